// Schemas as plain JSON schema objects, in the words that extensions use.

const OPTIONAL = Symbol("optional");

function schema(value, options) {
  return { ...value, ...options };
}

function marked(value) {
  return Object.defineProperty({ ...value }, OPTIONAL, { value: true, enumerable: false });
}

export const Type = {
  String: (options) => schema({ type: "string" }, options),
  Number: (options) => schema({ type: "number" }, options),
  Integer: (options) => schema({ type: "integer" }, options),
  Boolean: (options) => schema({ type: "boolean" }, options),
  Null: (options) => schema({ type: "null" }, options),
  Any: (options) => schema({}, options),
  Unknown: (options) => schema({}, options),
  Unsafe: (value) => schema({}, value),
  Literal: (value, options) => schema({ const: value, type: typeof value }, options),
  Array: (items, options) => schema({ type: "array", items }, options),
  Tuple: (items, options) => schema({ type: "array", items, minItems: items.length, maxItems: items.length }, options),
  Union: (anyOf, options) => schema({ anyOf }, options),
  Intersect: (allOf, options) => schema({ allOf }, options),
  Enum: (values, options) => schema({ enum: Object.values(values) }, options),
  Record: (_key, value, options) => schema({ type: "object", additionalProperties: value }, options),
  Optional: (value) => marked(value),
  Readonly: (value) => value,
  Object(properties = {}, options) {
    const required = Object.keys(properties).filter((key) => !properties[key]?.[OPTIONAL]);
    return schema({ type: "object", properties, ...(required.length > 0 ? { required } : {}) }, options);
  },
  Partial(value, options) {
    const { required: _required, ...rest } = value;
    return schema(rest, options);
  },
  Pick(value, keys, options) {
    const properties = Object.fromEntries(Object.entries(value.properties).filter(([key]) => keys.includes(key)));
    return Type.Object(properties, options);
  },
  Omit(value, keys, options) {
    const properties = Object.fromEntries(Object.entries(value.properties).filter(([key]) => !keys.includes(key)));
    return Type.Object(properties, options);
  },
};

export const Kind = Symbol("kind");
export default Type;
