// Values and schemas: checking, errors, defaults, conversion.

import { FormatRegistry, Kind, OptionalKind, TransformKind } from "offshoot:typebox";

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const FORMATS = {
  email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/, uri: /^[a-z][a-z0-9+.-]*:\S+$/i, url: /^https?:\/\/\S+$/i, date: /^\d{4}-\d\d-\d\d$/,
  "date-time": /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/, uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/, time: /^\d\d:\d\d:\d\d/,
};

const TYPES = {
  string: (value) => typeof value === "string", number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: Number.isInteger, boolean: (value) => typeof value === "boolean", null: (value) => value === null, array: Array.isArray,
  object: isObject, undefined: (value) => value === undefined, void: (value) => value === undefined || value === null,
  Date: (value) => value instanceof Date, bigint: (value) => typeof value === "bigint", Uint8Array: (value) => value instanceof Uint8Array,
  Function: (value) => typeof value === "function", Promise: (value) => value instanceof Promise,
};
const WORDS = { array: "an array", integer: "an integer", object: "an object" };

/// Finds the schema that a reference means.
function target(schema, scope) {
  const name = schema.$ref.replace(/^#\/\$defs\//, "");
  const found = scope.find((one) => one.$id === name) ?? scope.map((one) => one.$defs?.[name]).find(Boolean) ?? (schema.$ref === "#" ? scope[0] : undefined);
  if (!found) throw new Error(`Unable to dereference schema with $id '${schema.$ref}'`);
  return found;
}

/// The errors of a value, one after the other.
function* errors(schema, value, path, scope) {
  const fail = (message) => ({ path, instancePath: path, message, value, schema, type: schema[Kind] ?? schema.type, keyword: "" });
  if (schema === true) return;
  if (schema === false) return yield fail("Never");
  const inner = schema.$id || schema.$defs ? [schema, ...scope] : scope;
  if (schema.$ref !== undefined) return yield* errors(target(schema, inner), value, path, inner);
  if ("const" in schema && value !== schema.const) return yield fail(`Expected ${JSON.stringify(schema.const)}`);
  if (schema.enum && !schema.enum.includes(value)) return yield fail("Expected one of the values");
  const types = [schema.type].flat().filter((type) => type !== undefined);
  if (types.length > 0 && !types.some((type) => TYPES[type]?.(value) ?? true)) {
    const name = types.join(" or ");
    return yield fail(value === undefined ? "Expected required property" : `Expected ${WORDS[name] ?? name}`);
  }
  if (schema.anyOf && !schema.anyOf.some((one) => passes(one, value, inner))) yield fail("Expected union value");
  if (schema.oneOf && schema.oneOf.filter((one) => passes(one, value, inner)).length !== 1) yield fail("Expected one matching value");
  for (const one of schema.allOf ?? []) yield* errors(one, value, path, inner);
  if (schema.not && passes(schema.not, value, inner)) yield fail("Value should not match");
  if (typeof value === "string") yield* ofText(schema, value, fail);
  if (typeof value === "number") yield* ofNumber(schema, value, fail);
  if (Array.isArray(value)) yield* ofArray(schema, value, path, inner, fail);
  else if (isObject(value)) yield* ofObject(schema, value, path, inner, fail);
}

const passes = (schema, value, scope) => errors(schema, value, "", scope).next().done;

function* ofText(schema, value, fail) {
  const length = [...value].length;
  if (length < schema.minLength) yield fail(`Expected string length greater or equal to ${schema.minLength}`);
  if (length > schema.maxLength) yield fail(`Expected string length less or equal to ${schema.maxLength}`);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value)) yield fail(`Expected string to match '${schema.pattern}'`);
  const check = FormatRegistry.get(schema.format) ?? (FORMATS[schema.format] && ((text) => FORMATS[schema.format].test(text)));
  if (check && !check(value)) yield fail(`Expected string to match '${schema.format}' format`);
}

function* ofNumber(schema, value, fail) {
  if (value < schema.minimum) yield fail(`Expected number to be greater or equal to ${schema.minimum}`);
  if (value > schema.maximum) yield fail(`Expected number to be less or equal to ${schema.maximum}`);
  if (value <= schema.exclusiveMinimum) yield fail(`Expected number to be greater than ${schema.exclusiveMinimum}`);
  if (value >= schema.exclusiveMaximum) yield fail(`Expected number to be less than ${schema.exclusiveMaximum}`);
  if (schema.multipleOf && Math.abs(value / schema.multipleOf - Math.round(value / schema.multipleOf)) > 1e-9) yield fail(`Expected number to be a multiple of ${schema.multipleOf}`);
}

function* ofArray(schema, value, path, scope, fail) {
  if (value.length < schema.minItems) yield fail(`Expected array length to be greater or equal to ${schema.minItems}`);
  if (value.length > schema.maxItems) yield fail(`Expected array length to be less or equal to ${schema.maxItems}`);
  if (schema.uniqueItems && new Set(value.map((one) => JSON.stringify(one))).size < value.length) yield fail("Expected array elements to be unique");
  for (const [at, one] of value.entries()) {
    const of = Array.isArray(schema.items) ? schema.items[at] : schema.items;
    if (of) yield* errors(of, one, `${path}/${at}`, scope);
  }
}

function* ofObject(schema, value, path, scope, fail) {
  const { properties = {}, patternProperties = {}, additionalProperties: more, required = [] } = schema;
  const below = (key) => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  for (const key of required) {
    if (value[key] === undefined && !Object.hasOwn(value, key)) yield { ...fail("Expected required property"), path: below(key), instancePath: below(key), value: undefined };
  }
  const patterns = Object.entries(patternProperties).map(([pattern, one]) => [new RegExp(pattern, "u"), one]);
  const count = Object.keys(value).length;
  if (count < schema.minProperties || count > schema.maxProperties) yield fail("Expected another number of properties");
  for (const [key, one] of Object.entries(value)) {
    const matching = patterns.filter(([pattern]) => pattern.test(key));
    if (Object.hasOwn(properties, key)) {
      if (one !== undefined || required.includes(key)) yield* errors(properties[key], one, below(key), scope);
    } else if (matching.length > 0) for (const [, of] of matching) yield* errors(of, one, below(key), scope);
    else if (more === false) yield { ...fail("Unexpected property"), path: below(key), instancePath: below(key), value: one };
    else if (isObject(more)) yield* errors(more, one, below(key), scope);
  }
}

/// Calls with or without a list of referenced schemas between schema and value.
const split = (schema, rest) => (rest.length > 1 && Array.isArray(rest[0]) ? [schema, rest[1], rest[0]] : [schema, rest[0], []]);

export function Check(schema, ...rest) {
  const [of, value, references] = split(schema, rest);
  return passes(of, value, [of, ...references]);
}

export function Errors(schema, ...rest) {
  const [of, value, references] = split(schema, rest);
  const found = [...errors(of, value, "", [of, ...references])];
  return Object.assign(found, { First: () => found[0] });
}

/// Changes a value as its schema says, from the outside in or from the inside out.
function walked(schema, value, change, scope) {
  if (!isObject(schema)) return value;
  const inner = schema.$id || schema.$defs ? [schema, ...scope] : scope;
  if (schema.$ref !== undefined) return walked(target(schema, inner), value, change, inner);
  return change(schema, value, (one, part) => walked(one, part, change, inner), inner);
}

function parts(schema, value, next) {
  if (Array.isArray(value) && schema.items) return value.map((one, at) => (Array.isArray(schema.items) ? (schema.items[at] ? next(schema.items[at], one) : one) : next(schema.items, one)));
  if (!isObject(value)) return value;
  const copy = { ...value };
  for (const [key, one] of Object.entries(schema.properties ?? {})) {
    const made = next(one, copy[key]);
    if (made !== undefined || key in copy) copy[key] = made;
  }
  if (isObject(schema.additionalProperties)) for (const key of Object.keys(copy)) if (!schema.properties?.[key]) copy[key] = next(schema.additionalProperties, copy[key]);
  return copy;
}

const alternatives = (schema, value, next, scope) => {
  if (schema.allOf) return schema.allOf.reduce((made, one) => next(one, made), value);
  if (!schema.anyOf) return undefined;
  const fits = schema.anyOf.find((one) => passes(one, value, scope));
  if (fits) return next(fits, value);
  const made = schema.anyOf.map((one) => [one, next(one, value)]).find(([one, changed]) => passes(one, changed, scope));
  return made ? made[1] : value;
};

const copied = (value) => (value === undefined ? undefined : structuredClone(typeof value === "function" ? value() : value));

export function Default(schema, ...rest) {
  const [of, given] = split(schema, rest);
  return walked(of, given, (one, value, next, scope) => {
    const filled = value === undefined && one.default !== undefined ? copied(one.default) : value;
    return alternatives(one, filled, next, scope) ?? parts(one, filled, next);
  }, [of]);
}

export function Clean(schema, ...rest) {
  const [of, given] = split(schema, rest);
  return walked(of, given, (one, value, next, scope) => {
    if (one.anyOf) return alternatives(one, value, next, scope);
    const known = { ...one.properties, ...Object.assign({}, ...(one.allOf ?? []).map((part) => part.properties)) };
    const isClosed = isObject(value) && Object.keys(known).length > 0 && !isObject(one.additionalProperties);
    const kept = isClosed ? Object.fromEntries(Object.entries(value).filter(([key]) => Object.hasOwn(known, key))) : value;
    return parts({ ...one, properties: known }, kept, next);
  }, [of]);
}

function converted(schema, value) {
  const isText = typeof value === "string";
  switch (schema.type) {
    case "number": case "integer": {
      const number = isText && value.trim() !== "" ? Number(value) : typeof value === "boolean" ? Number(value) : NaN;
      return Number.isNaN(number) ? (typeof value === "number" && schema.type === "integer" ? Math.trunc(value) : value) : schema.type === "integer" ? Math.trunc(number) : number;
    }
    case "boolean":
      if (isText && /^(true|1)$/i.test(value)) return true;
      if (isText && /^(false|0)$/i.test(value)) return false;
      return value === 1 ? true : value === 0 ? false : value;
    case "string": return ["number", "boolean", "bigint"].includes(typeof value) ? String(value) : value;
    case "null": return isText && value.toLowerCase() === "null" ? null : value;
    case "Date": return isText || typeof value === "number" ? new Date(value) : value;
    case "array": return Array.isArray(value) || value === undefined || value === null ? value : [value];
    default: return "const" in schema && String(schema.const) === String(value) ? schema.const : value;
  }
}

export function Convert(schema, ...rest) {
  const [of, given] = split(schema, rest);
  return walked(of, given, (one, value, next, scope) => alternatives(one, value, next, scope) ?? parts(one, converted(one, value), next), [of]);
}

const EMPTY = { string: "", number: 0, integer: 0, boolean: false, null: null, bigint: 0n };

export function Create(schema) {
  const create = (one, scope) => {
    const inner = one.$id || one.$defs ? [one, ...scope] : scope;
    if (one.default !== undefined) return copied(one.default);
    if (one.$ref !== undefined) return create(target(one, inner), inner);
    if ("const" in one) return one.const;
    if (one.enum) return one.enum[0];
    if (one.anyOf) return create(one.anyOf[0], inner);
    if (one.allOf) return Object.assign({}, ...one.allOf.map((part) => create(part, inner)));
    if (one.type === "array") return Array.isArray(one.items) ? one.items.map((part) => create(part, inner)) : Array.from({ length: one.minItems ?? 0 }, () => create(one.items, inner));
    if (one.type === "object") {
      const names = Object.keys(one.properties ?? {}).filter((key) => !one.properties[key][OptionalKind] && (one.required ?? []).includes(key));
      return Object.fromEntries(names.map((key) => [key, create(one.properties[key], inner)]));
    }
    if (one.type === "Date") return new Date(0);
    return ["number", "integer"].includes(one.type) ? one.minimum ?? 0 : EMPTY[one.type];
  };
  return create(schema, [schema]);
}

export const Cast = (schema, ...rest) => {
  const [of, value] = split(schema, rest);
  const tried = Convert(of, Default(of, value));
  if (Check(of, tried)) return tried;
  const empty = Create(of);
  return isObject(tried) && isObject(empty) ? Object.fromEntries(Object.keys(of.properties ?? {}).filter((key) => key in tried || key in empty).map((key) => [key, Check(of.properties[key], tried[key]) ? tried[key] : empty[key]])) : empty;
};

export class AssertError extends Error {
  constructor(error) {
    super(error?.message ?? "Invalid value");
    this.name = "AssertError";
    Object.assign(this, { error, value: error?.value });
  }
  Errors() {
    return [this.error];
  }
}
export const TransformDecodeCheckError = AssertError;

export function Assert(schema, ...rest) {
  const [first] = Errors(schema, ...rest);
  if (first) throw new AssertError(first);
}

const transformed = (of, value, apply) => walked(of, value, (one, part, next, scope) => {
  const inner = (given) => alternatives(one, given, next, scope) ?? parts(one, given, next);
  return apply(one[TransformKind], part, inner);
}, [of]);

export function Decode(schema, ...rest) {
  const [of, value, references] = split(schema, rest);
  Assert(of, references, value);
  return transformed(of, value, (codec, part, inner) => (codec && part !== undefined ? codec.Decode(inner(part)) : inner(part)));
}
export function Encode(schema, ...rest) {
  const [of, value, references] = split(schema, rest);
  const encoded = transformed(of, value, (codec, part, inner) => inner(codec && part !== undefined ? codec.Encode(part) : part));
  Assert(of, references, encoded);
  return encoded;
}

export function Parse(...args) {
  const [schema, ...rest] = Array.isArray(args[0]) ? args.slice(1) : args;
  const [of, value] = split(schema, rest);
  return Decode(of, Clean(of, Convert(of, Default(of, value))));
}

export const Clone = (value) => structuredClone(value);
export const Equal = (a, b) => JSON.stringify(a) === JSON.stringify(b);
export function Hash(value) {
  let hash = 14695981039346656037n;
  for (const char of JSON.stringify(value) ?? "") hash = BigInt.asUintN(64, (hash ^ BigInt(char.codePointAt(0))) * 1099511628211n);
  return hash;
}

export const Value = {
  Check, Errors, Default, Clean, Convert, Create, Cast, Assert, Decode, Encode, Parse, Clone, Equal, Hash,
  HasTransform: (schema) => JSON.stringify(schema) !== undefined && Boolean(schema[TransformKind] ?? Object.values(schema.properties ?? {}).some((one) => one[TransformKind])),
};
export default Value;
