// Queries as plain objects.

const quoted = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
export const escape = (text) => quoted(String(text));
export function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parse(text, separator = "&", equals = "=") {
  const found = Object.create(null);
  for (const part of String(text).split(separator).filter(Boolean)) {
    const at = part.indexOf(equals);
    const [key, value] = (at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + equals.length)]).map((one) => unescape(one.replaceAll("+", " ")));
    found[key] = key in found ? [found[key], value].flat() : value;
  }
  return found;
}

export function stringify(values, separator = "&", equals = "=") {
  const pairs = Object.entries(values ?? {}).flatMap(([key, value]) => [value].flat().map((one) => `${escape(key)}${equals}${one === undefined || one === null || typeof one === "object" ? "" : escape(one)}`));
  return pairs.join(separator);
}

export const decode = parse;
export const encode = stringify;
export default { parse, stringify, decode, encode, escape, unescape };
