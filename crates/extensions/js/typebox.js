// Schemas as plain JSON schema objects, in the words that extensions use.

export const Kind = Symbol.for("TypeBox.Kind");
export const Hint = Symbol.for("TypeBox.Hint");
export const OptionalKind = Symbol.for("TypeBox.Optional");
export const ReadonlyKind = Symbol.for("TypeBox.Readonly");
export const TransformKind = Symbol.for("TypeBox.Transform");

/// Marks are not enumerable: schemas are sent as JSON and compared.
function marked(schema, marks) {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema));
  for (const [mark, value] of marks) Object.defineProperty(copy, mark, { value, enumerable: false, configurable: true });
  return copy;
}

const made = (kind, value, options) => marked({ ...value, ...options }, [[Kind, kind]]);
const without = (schema, mark) => {
  const copy = marked(schema, []);
  delete copy[mark];
  return copy;
};
const isOptional = (schema) => Boolean(schema?.[OptionalKind]);
const keysOf = (keys) => (Array.isArray(keys) ? keys.map(String) : keys.anyOf ? keys.anyOf.map((one) => String(one.const)) : keys.enum ? keys.enum.map(String) : [String(keys.const)]);

function object(properties = {}, options) {
  const required = Object.keys(properties).filter((key) => !isOptional(properties[key]));
  return made("Object", { type: "object", properties, ...(required.length > 0 ? { required } : {}) }, options);
}

/// The options of an object schema, without what its properties decide.
function optionsOf(schema) {
  const { type: _type, properties: _properties, required: _required, ...rest } = schema;
  return rest;
}
const mapped = (schema, change, options) =>
  object(Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, value]) => [key, change(value)])), { ...optionsOf(schema), ...options });
const filtered = (schema, keeps, options) =>
  object(Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([key]) => keeps(key))), { ...optionsOf(schema), ...options });

const literal = (value, options) => made("Literal", { const: value, type: typeof value }, options);

export const Type = {
  String: (options) => made("String", { type: "string" }, options),
  Number: (options) => made("Number", { type: "number" }, options),
  Integer: (options) => made("Integer", { type: "integer" }, options),
  Boolean: (options) => made("Boolean", { type: "boolean" }, options),
  Null: (options) => made("Null", { type: "null" }, options),
  Any: (options) => made("Any", {}, options),
  Unknown: (options) => made("Unknown", {}, options),
  Never: (options) => made("Never", { not: {} }, options),
  Undefined: (options) => made("Undefined", { type: "undefined" }, options),
  Void: (options) => made("Void", { type: "void" }, options),
  Date: (options) => made("Date", { type: "Date" }, options),
  BigInt: (options) => made("BigInt", { type: "bigint" }, options),
  Uint8Array: (options) => made("Uint8Array", { type: "Uint8Array" }, options),
  Unsafe: (value) => made(value?.[Kind] ?? "Unsafe", {}, value),
  Literal: literal,
  Const: literal,
  Array: (items, options) => made("Array", { type: "array", items }, options),
  Tuple: (items, options) => made("Tuple", { type: "array", items, minItems: items.length, maxItems: items.length, additionalItems: false }, options),
  Union: (anyOf, options) => (anyOf.length === 1 ? marked({ ...anyOf[0], ...options }, [[Kind, anyOf[0][Kind]]]) : made("Union", { anyOf }, options)),
  Intersect: (allOf, options) => made("Intersect", { allOf }, options),
  Not: (not, options) => made("Not", { not }, options),
  Enum: (values, options) => {
    const list = Array.isArray(values) ? values : Object.entries(values).filter(([key]) => Number.isNaN(Number(key))).map(([, value]) => value);
    return made("Enum", { enum: [...new Set(list)] }, options);
  },
  Record: (key, value, options) => {
    if (key?.anyOf || key?.const !== undefined) return object(Object.fromEntries(keysOf(key).map((name) => [name, value])), options);
    return made("Record", key?.pattern ? { type: "object", patternProperties: { [key.pattern]: value } } : { type: "object", additionalProperties: value }, options);
  },
  TemplateLiteral: (parts, options) => made("TemplateLiteral", { type: "string", pattern: typeof parts === "string" ? parts : `^${parts.map((one) => one.const ?? ".*").join("")}$` }, options),
  RegExp: (pattern, options) => made("String", { type: "string", pattern: pattern instanceof RegExp ? pattern.source : pattern }, options),
  Ref: (to, options) => (typeof to === "string" ? made("Ref", { $ref: to }, options) : made("Ref", { $ref: to.$id }, options)),
  This: (options) => made("This", { $ref: "#" }, options),
  Recursive: (make, options = {}) => {
    const $id = options.$id ?? `T${Math.random().toString(36).slice(2)}`;
    const schema = make(made("This", { $ref: $id }));
    return Object.assign(schema, { ...options, $id });
  },
  Optional: (schema) => marked(schema, [[OptionalKind, "Optional"]]),
  Readonly: (schema) => marked(schema, [[ReadonlyKind, "Readonly"]]),
  ReadonlyOptional: (schema) => marked(schema, [[OptionalKind, "Optional"], [ReadonlyKind, "Readonly"]]),
  Object: object,
  Partial: (schema, options) => mapped(schema, Type.Optional, options),
  Required: (schema, options) => mapped(schema, (one) => without(one, OptionalKind), options),
  Pick: (schema, keys, options) => filtered(schema, (key) => keysOf(keys).includes(key), options),
  Omit: (schema, keys, options) => filtered(schema, (key) => !keysOf(keys).includes(key), options),
  Composite: (list, options) => object(Object.assign({}, ...list.map((one) => one.properties)), options),
  Interface: (list, properties, options) => object(Object.assign({}, ...list.map((one) => one.properties), properties), options),
  Evaluate: (schema) => (schema.allOf ? Type.Composite(schema.allOf) : schema),
  KeyOf: (schema, options) => Type.Union(Object.keys(schema.properties ?? {}).map((key) => literal(key)), options),
  Index: (schema, keys) => Type.Union(keysOf(keys).map((key) => schema.properties?.[key] ?? schema.items)),
  Exclude: (schema, other) => Type.Union((schema.anyOf ?? [schema]).filter((one) => !keysOf(other).includes(String(one.const)))),
  Extract: (schema, other) => Type.Union((schema.anyOf ?? [schema]).filter((one) => keysOf(other).includes(String(one.const)))),
  Function: (parameters, returns, options) => made("Function", { type: "Function", parameters, returns }, options),
  Promise: (item, options) => made("Promise", { type: "Promise", item }, options),
  Clone: (schema) => structuredClone(schema),
  Module: (schemas) => ({ Import: (name) => ({ ...schemas[name], $defs: schemas }) }),
  Transform: (schema) => ({
    Decode: (decode) => ({ Encode: (encode) => marked(schema, [[TransformKind, { Decode: decode, Encode: encode }]]) }),
  }),
  Codec: (schema) => Type.Transform(schema),
};

export const TypeGuard = {
  IsSchema: (value) => value !== null && typeof value === "object" && value[Kind] !== undefined,
  IsOptional: isOptional,
  ...Object.fromEntries(["String", "Number", "Integer", "Boolean", "Null", "Array", "Object", "Union", "Literal", "Record", "Tuple", "Enum", "Intersect"].map((kind) => [`Is${kind}`, (value) => value?.[Kind] === kind])),
};
export const KindGuard = TypeGuard;
export const FormatRegistry = new Map();
export const TypeRegistry = new Map();
export const CloneType = (schema, options) => marked({ ...schema, ...options }, [[Kind, schema[Kind]]]);

export default Type;
