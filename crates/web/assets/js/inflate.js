// Inflate: raw deflate (RFC 1951) in one call. `DecompressionStream` answers later, and a printer does not wait.

const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const DISTANCES = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

// A table from the next 15 bits of the input to `symbol << 4 | length`.
function huffman(lengths) {
  const next = new Uint16Array(17);
  for (const length of lengths) if (length > 0) next[length + 1]++;
  for (let length = 1, code = 0; length < 17; length++) next[length] = code = (code + next[length]) << 1;
  const table = new Uint16Array(1 << 15);
  lengths.forEach((length, symbol) => {
    if (length === 0) return;
    let reversed = 0;
    for (let bit = 0, code = next[length]++; bit < length; bit++, code >>= 1) reversed = (reversed << 1) | (code & 1);
    for (let at = reversed; at < table.length; at += 1 << length) table[at] = (symbol << 4) | length;
  });
  return table;
}

const fixedTables = [
  huffman(Array.from({ length: 288 }, (_, at) => (at < 144 ? 8 : at < 256 ? 9 : at < 280 ? 7 : 8))),
  huffman(new Array(30).fill(5)),
];

// Unpacks `input` into `size` bytes.
function inflate(input, size) {
  const out = new Uint8Array(size);
  let at = 0, done = 0, bits = 0, held = 0;
  const take = (count) => {
    while (held < count) { bits |= input[at++] << held; held += 8; }
    const value = bits & ((1 << count) - 1);
    bits >>>= count;
    held -= count;
    return value;
  };
  const symbol = (table) => {
    while (held < 15) { bits |= input[at++] << held; held += 8; }
    const found = table[bits & 32767];
    bits >>>= found & 15;
    held -= found & 15;
    return found >> 4;
  };
  const tables = () => {
    const literals = take(5) + 257, distances = take(5) + 1, codes = take(4) + 4;
    const order = new Array(19).fill(0);
    for (let i = 0; i < codes; i++) order[CODE_ORDER[i]] = take(3);
    const table = huffman(order);
    const lengths = [];
    while (lengths.length < literals + distances) {
      const code = symbol(table);
      if (code < 16) { lengths.push(code); continue; }
      const value = code === 16 ? lengths[lengths.length - 1] : 0;
      for (let left = code === 16 ? take(2) + 3 : code === 17 ? take(3) + 3 : take(7) + 11; left > 0; left--) lengths.push(value);
    }
    return [huffman(lengths.slice(0, literals)), huffman(lengths.slice(literals))];
  };
  for (let isLast = 0; !isLast && done < size;) {
    isLast = take(1);
    const kind = take(2);
    if (kind === 0) {
      at -= held >> 3;
      bits = held = 0;
      const length = take(16);
      take(16);
      out.set(input.subarray(at, at + length), done);
      at += length;
      done += length;
      continue;
    }
    const [literals, distances] = kind === 1 ? fixedTables : tables();
    for (let code = symbol(literals); code !== 256 && done < size; code = symbol(literals)) {
      if (code < 256) { out[done++] = code; continue; }
      const extra = code < 265 || code === 285 ? 0 : (code - 261) >> 2;
      const end = done + LENGTHS[code - 257] + take(extra);
      const far = symbol(distances);
      let from = done - DISTANCES[far] - take(far < 4 ? 0 : (far - 2) >> 1);
      while (done < end) out[done++] = out[from++];
    }
  }
  return out;
}
