// Images in terminals: their size, and the escape sequences that show them. The screen shows a line of text in their place.

const DIMENSIONS = {
  "image/png": getPngDimensions,
  "image/jpeg": getJpegDimensions,
  "image/gif": getGifDimensions,
  "image/webp": getWebpDimensions,
};

const bytesOf = (base64) => Buffer.from(base64, "base64");
const size = (widthPx, heightPx) => (widthPx > 0 && heightPx > 0 ? { widthPx, heightPx } : null);

export function getPngDimensions(base64) {
  const bytes = bytesOf(base64);
  return bytes.length >= 24 && bytes[0] === 0x89 && bytes[1] === 0x50 ? size(uint(bytes, 16, 4), uint(bytes, 20, 4)) : null;
}

export function getGifDimensions(base64) {
  const bytes = bytesOf(base64);
  return bytes.length >= 10 && bytes.subarray(0, 3).toString() === "GIF" ? size(bytes[6] | (bytes[7] << 8), bytes[8] | (bytes[9] << 8)) : null;
}

export function getJpegDimensions(base64) {
  const bytes = bytesOf(base64);
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + uint(bytes, at + 2, 2)) {
    const isFrame = bytes[at + 1] >= 0xc0 && bytes[at + 1] <= 0xc2;
    if (isFrame) return size(uint(bytes, at + 7, 2), uint(bytes, at + 5, 2));
    if (uint(bytes, at + 2, 2) < 2) return null;
  }
  return null;
}

export function getWebpDimensions(base64) {
  const bytes = bytesOf(base64);
  if (bytes.length < 30 || bytes.subarray(8, 12).toString() !== "WEBP") return null;
  const low = (at, count) => [...bytes.subarray(at, at + count)].reduceRight((sum, byte) => sum * 256 + byte, 0);
  const kind = bytes.subarray(12, 16).toString();
  if (kind === "VP8 ") return size(low(26, 2) & 0x3fff, low(28, 2) & 0x3fff);
  if (kind === "VP8L") return size((low(21, 4) & 0x3fff) + 1, ((low(21, 4) >>> 14) & 0x3fff) + 1);
  return kind === "VP8X" ? size(low(24, 3) + 1, low(27, 3) + 1) : null;
}

function uint(bytes, at, count) {
  return [...bytes.subarray(at, at + count)].reduce((sum, byte) => sum * 256 + byte, 0);
}

export const getImageDimensions = (base64, mimeType) => DIMENSIONS[mimeType]?.(base64) ?? null;

let cell = { widthPx: 9, heightPx: 18 };
export const getCellDimensions = () => cell;
export const setCellDimensions = (dimensions) => void (cell = dimensions);

export function calculateImageRows(dimensions, width, cellSize = cell) {
  const height = (dimensions.heightPx * width * cellSize.widthPx) / dimensions.widthPx;
  return Math.max(1, Math.ceil(height / cellSize.heightPx));
}

export const allocateImageId = () => 1 + Math.floor(Math.random() * 0xfffffffe);
export const deleteKittyImage = (id) => `\x1b_Ga=d,d=I,i=${id},q=2\x1b\\`;
export const deleteAllKittyImages = () => "\x1b_Ga=d,d=A,q=2\x1b\\";

export function encodeKitty(base64, { columns, rows, imageId, moveCursor = true } = {}) {
  const first = ["a=T", "f=100", "q=2"];
  if (!moveCursor) first.push("C=1");
  if (columns) first.push(`c=${columns}`);
  if (rows) first.push(`r=${rows}`);
  if (imageId) first.push(`i=${imageId}`);
  const pieces = base64.match(/[^]{1,4096}/g) ?? [""];
  return pieces.map((piece, at) => {
    const more = pieces.length > 1 ? [`m=${at + 1 < pieces.length ? 1 : 0}`] : [];
    return `\x1b_G${[...(at === 0 ? first : []), ...more].join(",")};${piece}\x1b\\`;
  }).join("");
}

export function encodeITerm2(base64, { width, height, name, preserveAspectRatio = true, inline = true } = {}) {
  const fields = [`inline=${inline ? 1 : 0}`];
  if (width !== undefined) fields.push(`width=${width}`);
  if (height !== undefined) fields.push(`height=${height}`);
  if (name) fields.push(`name=${Buffer.from(name).toString("base64")}`);
  if (!preserveAspectRatio) fields.push("preserveAspectRatio=0");
  return `\x1b]1337;File=${fields.join(";")}:${base64}\x07`;
}

export function imageFallback(mimeType, dimensions, filename) {
  const parts = [filename, `[${mimeType}]`, dimensions && `${dimensions.widthPx}x${dimensions.heightPx}`];
  return `[Image: ${parts.filter(Boolean).join(" ")}]`;
}

/// Returns nothing: lines of components are text, so images are shown as their fallback.
export const renderImage = () => null;
export const setImageTranscoder = () => {};

/// An image as one line of text.
export class Image {
  constructor(base64Data, mimeType, theme, options = {}, dimensions) {
    Object.assign(this, { base64Data, mimeType, theme, options });
    this.dimensions = dimensions ?? getImageDimensions(base64Data, mimeType) ?? { widthPx: 800, heightPx: 600 };
  }
  getImageId() {
    return this.options.imageId;
  }
  invalidate() {}
  render() {
    const color = this.theme?.fallbackColor ?? ((text) => text);
    return [color(imageFallback(this.mimeType, this.dimensions, this.options.filename))];
  }
}
