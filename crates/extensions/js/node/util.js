// Odds and ends of Node: values as text, functions as promises, arguments of commands.

import types from "offshoot:node/util-types";

export function promisify(call) {
  if (call[promisify.custom]) return call[promisify.custom];
  return function promised(...args) {
    return new Promise((resolve, reject) => {
      call.call(this, ...args, (error, value) => (error ? reject(error) : resolve(value)));
    });
  };
}
promisify.custom = Symbol.for("nodejs.util.promisify.custom");

export const callbackify = (work) => (...args) => {
  const callback = args.pop();
  work(...args).then((value) => callback(null, value), (error) => callback(error ?? new Error("rejected")));
};

const quoted = (text) => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : text.includes("'") && !text.includes("`") && text.includes('"') ? "`" : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r").replaceAll("\x1b", "\\x1B");
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
};
const key = (name) => (typeof name === "symbol" ? `[${String(name)}]` : /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name));

/// Spells a value as Node's console does: short ones on one line, others below each other.
export function inspect(value, options = {}) {
  const depth = options.depth === null ? Infinity : options.depth ?? 2;
  return shown(value, { ...options, left: depth, seen: [], width: options.breakLength ?? 72 });
}
inspect.custom = Symbol.for("nodejs.util.inspect.custom");
inspect.defaultOptions = {};

function shown(value, how) {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "symbol") return String(value);
  if (typeof value === "function") {
    const isClass = /^class\b/.test(Function.prototype.toString.call(value));
    return isClass ? `[class ${value.name || "(anonymous)"}]` : `[Function${value.name ? `: ${value.name}` : " (anonymous)"}]`;
  }
  if (value === null || typeof value !== "object") return String(value);
  if (how.customInspect !== false && typeof value[inspect.custom] === "function") {
    const made = value[inspect.custom](how.left, how, inspect);
    return typeof made === "string" ? made : shown(made, how);
  }
  if (value instanceof Error) {
    const more = Object.keys(value).map((name) => `${key(name)}: ${shown(value[name], { ...how, left: how.left - 1 })}`);
    const head = `${value.name}: ${value.message}${value.stack ? `\n${value.stack.trimEnd()}` : ""}`;
    return more.length > 0 ? `${head} {\n  ${more.join(",\n  ")}\n}` : head;
  }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (how.seen.includes(value)) return "[Circular *1]";
  const name = value.constructor?.name;
  const isList = Array.isArray(value) || types.isTypedArray(value);
  if (how.left < 0) return isList ? "[Array]" : `[${name ?? "Object: null prototype"}]`;
  const inner = { ...how, left: how.left - 1, seen: [...how.seen, value] };
  return brackets(entries(value, isList, inner), prefix(value, name), isList, how.width);
}

function prefix(value, name) {
  if (value instanceof Map || value instanceof Set) return `${name}(${value.size}) `;
  if (types.isTypedArray(value)) return `${name}(${value.length}) `;
  if (value instanceof Promise) return "Promise ";
  if (name === undefined) return "[Object: null prototype] ";
  return name === "Object" || name === "Array" ? "" : `${name} `;
}

function entries(value, isList, how) {
  const parts = [];
  if (isList) {
    parts.push(...Array.prototype.slice.call(value, 0, 100).map((one) => shown(one, how)));
    if (value.length > 100) parts.push(`... ${value.length - 100} more items`);
  }
  if (value instanceof Map) for (const [one, other] of value) parts.push(`${shown(one, how)} => ${shown(other, how)}`);
  if (value instanceof Set) for (const one of value) parts.push(shown(one, how));
  const names = [...Object.keys(value), ...Object.getOwnPropertySymbols(value).filter((one) => Object.prototype.propertyIsEnumerable.call(value, one))];
  for (const one of names.filter((one) => !isList || typeof one === "symbol" || !/^\d+$/.test(one))) {
    const { get, set, value: direct } = Object.getOwnPropertyDescriptor(value, one);
    const text = get ? (set ? "[Getter/Setter]" : "[Getter]") : set ? "[Setter]" : shown(direct, how);
    parts.push(`${key(one)}: ${text}`);
  }
  return parts;
}

function brackets(parts, before, isList, width) {
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return `${before}${open}${close}`;
  const line = `${before}${open} ${parts.join(", ")} ${close}`;
  if (line.length <= width && !line.includes("\n")) return line;
  return `${before}${open}\n${parts.map((part) => `  ${part.replaceAll("\n", "\n  ")}`).join(",\n")}\n${close}`;
}

export function format(template, ...values) {
  const rest = [...values];
  if (typeof template !== "string") return [template, ...rest].map((one) => (typeof one === "string" ? one : inspect(one))).join(" ");
  const text = template.replace(/%[sdifjoOc%]/g, (code) => {
    if (code === "%%") return "%";
    if (rest.length === 0) return code;
    const value = rest.shift();
    switch (code) {
      case "%s": return typeof value === "object" && value !== null ? inspect(value, { depth: 0 }) : String(value);
      case "%d": return typeof value === "bigint" ? `${value}n` : String(Number(value));
      case "%i": return String(Number.parseInt(value, 10));
      case "%f": return String(Number.parseFloat(value));
      case "%j": return JSON.stringify(value);
      case "%c": return "";
      default: return inspect(value);
    }
  });
  return [text, ...rest.map((value) => (typeof value === "string" ? value : inspect(value)))].join(" ");
}

export const stripVTControlCharacters = (text) => text.replace(/\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)/g, "");

export function isDeepStrictEqual(a, b, seen = []) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (seen.some(([one, other]) => one === a && other === b)) return true;
  const more = [...seen, [a, b]];
  if (a instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof RegExp) return String(a) === String(b);
  if (a instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
  if (a instanceof Map || a instanceof Set) {
    if (a.size !== b.size) return false;
    const others = [...b];
    return [...a].every((one) => {
      const at = others.findIndex((other) => isDeepStrictEqual(one, other, more));
      return at >= 0 && others.splice(at, 1).length === 1;
    });
  }
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isDeepStrictEqual(a[name], b[name], more));
}

/// Reads options such as `--name=value` and `-n value`.
export function parseArgs({ args = [], options = {}, strict = true, allowPositionals = !strict } = {}) {
  const [values, positionals, rest] = [Object.create(null), [], [...args]];
  const failed = (code, message) => Object.assign(new TypeError(message), { code: `ERR_PARSE_ARGS_${code}` });
  const put = (name, value) => {
    if (options[name]?.multiple) (values[name] ??= []).push(value);
    else values[name] = value;
  };
  const take = (raw, name, given) => {
    const option = options[name];
    if (!option && strict) throw failed("UNKNOWN_OPTION", `Unknown option '${raw}'`);
    if (option?.type !== "string") {
      if (given !== undefined && strict && option) throw failed("INVALID_OPTION_VALUE", `Option '${raw}' does not take an argument`);
      return put(name, given ?? true);
    }
    const value = given ?? rest.shift();
    if (value === undefined && strict) throw failed("INVALID_OPTION_VALUE", `Option '${raw} <value>' argument missing`);
    return put(name, value);
  };
  while (rest.length > 0) {
    const arg = rest.shift();
    if (arg === "--") positionals.push(...rest.splice(0));
    else if (arg.startsWith("--")) {
      const at = arg.indexOf("=");
      const [name, given] = at < 0 ? [arg.slice(2), undefined] : [arg.slice(2, at), arg.slice(at + 1)];
      take(`--${name}`, name, given);
    } else if (/^-[^-]/.test(arg)) {
      for (let letters = arg.slice(1); letters; ) {
        const letter = letters[0];
        const name = Object.keys(options).find((one) => options[one].short === letter) ?? letter;
        const given = options[name]?.type === "string" && letters.length > 1 ? letters.slice(1) : undefined;
        take(`-${letter}`, name, given);
        letters = given === undefined ? letters.slice(1) : "";
      }
    } else positionals.push(arg);
  }
  if (positionals.length > 0 && !allowPositionals && strict) throw failed("UNEXPECTED_POSITIONAL", `Unexpected argument '${positionals[0]}'`);
  for (const [name, option] of Object.entries(options)) if (!(name in values) && option.default !== undefined) values[name] = option.default;
  return { values, positionals };
}

const STYLES = {
  reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], inverse: [7, 27], hidden: [8, 28], strikethrough: [9, 29],
  black: [30, 39], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39],
  gray: [90, 39], grey: [90, 39], redBright: [91, 39], greenBright: [92, 39], yellowBright: [93, 39], blueBright: [94, 39],
  magentaBright: [95, 39], cyanBright: [96, 39], whiteBright: [97, 39], bgBlack: [40, 49], bgRed: [41, 49], bgGreen: [42, 49],
  bgYellow: [43, 49], bgBlue: [44, 49], bgMagenta: [45, 49], bgCyan: [46, 49], bgWhite: [47, 49],
};
inspect.colors = STYLES;

export function styleText(styles, text) {
  return [styles].flat().reduceRight((inner, name) => {
    if (!STYLES[name]) throw Object.assign(new TypeError(`The argument 'format' is not a style: ${name}`), { code: "ERR_INVALID_ARG_VALUE" });
    const [on, off] = STYLES[name];
    return `\x1b[${on}m${inner}\x1b[${off}m`;
  }, String(text));
}

export function inherits(child, parent) {
  Object.defineProperty(child, "super_", { value: parent, configurable: true });
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

export const deprecate = (work) => work;
export const debuglog = () => Object.assign(() => {}, { enabled: false });
export const debug = debuglog;
export const toUSVString = (text) => String(text).toWellFormed();
export const getSystemErrorName = (number) => `E${number}`;
export const aborted = (signal) => new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", resolve)));
export const { isArray } = Array;
export const { TextEncoder, TextDecoder } = globalThis;
export { types };

export default {
  promisify, callbackify, inspect, format, stripVTControlCharacters, isDeepStrictEqual, parseArgs, styleText, inherits, deprecate, debuglog,
  debug, toUSVString, getSystemErrorName, aborted, isArray, types, TextEncoder, TextDecoder,
};
