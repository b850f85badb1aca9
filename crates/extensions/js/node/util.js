// Odds and ends of Node.

export function promisify(call) {
  if (call[promisify.custom]) return call[promisify.custom];
  return (...args) => new Promise((resolve, reject) => {
    call(...args, (error, value) => (error ? reject(error) : resolve(value)));
  });
}
promisify.custom = Symbol.for("nodejs.util.promisify.custom");

export function inspect(value) {
  if (typeof value === "string") return `'${value}'`;
  try {
    return JSON.stringify(value, null, 2) ?? String(value);
  } catch {
    return String(value);
  }
}

export function format(template, ...values) {
  const text = String(template).replace(/%[sdijoO%]/g, (code) => {
    if (code === "%%") return "%";
    const value = values.shift();
    return code === "%s" ? String(value) : code === "%d" || code === "%i" ? String(Number(value)) : inspect(value);
  });
  return [text, ...values.map((value) => (typeof value === "string" ? value : inspect(value)))].join(" ");
}

export const stripVTControlCharacters = (text) => text.replace(/\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|.)/g, "");
export const isDeepStrictEqual = (a, b) => JSON.stringify(a) === JSON.stringify(b);
export const types = { isPromise: (value) => value instanceof Promise, isDate: (value) => value instanceof Date };
export const { TextEncoder, TextDecoder } = globalThis;

export default { promisify, inspect, format, stripVTControlCharacters, isDeepStrictEqual, types };
