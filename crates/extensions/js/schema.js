// Arguments of tools: read while they are streamed, and checked against their schema.

/// Reads JSON that may hold raw line breaks and stray backslashes in its texts.
export function parseJsonWithRepair(json) {
  try {
    return JSON.parse(json);
  } catch (error) {
    const repaired = repairJson(json);
    if (repaired === json) throw error;
    return JSON.parse(repaired);
  }
}

const ESCAPED = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f" };

export function repairJson(json) {
  return json.replace(/"(?:[^"\\]|\\[^])*"?/g, (text) =>
    text
      .replace(/\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|\\/g, (found) => (found === "\\" ? "\\\\" : found))
      .replace(/[\x00-\x1f]/g, (char) => ESCAPED[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

/// Reads the beginning of a JSON text as far as it goes; never fails.
export function parseStreamingJson(text) {
  if (!text?.trim()) return {};
  for (const json of [text, ...closed(repairJson(text))]) {
    try {
      return JSON.parse(json) ?? {};
    } catch {
      // The next one ends earlier.
    }
  }
  return {};
}

/// Ends a text that was cut off in every way that may be right.
function closed(text) {
  const open = [];
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isText && char === "\\") at += 1;
    else if (char === '"') isText = !isText;
    else if (!isText && (char === "{" || char === "[")) open.unshift(char === "{" ? "}" : "]");
    else if (!isText && (char === "}" || char === "]")) open.shift();
  }
  const end = open.join("");
  const whole = isText ? `${text.replace(/\\$/, "")}"` : text;
  const shorter = whole.replace(/[,:]\s*$/, "");
  return [whole + end, shorter + end, shorter.replace(/,?\s*"(?:[^"\\]|\\.)*"\s*:?\s*[^",{}[\]]*$/, "") + end];
}

/// Checks the arguments of a call and returns them, with numbers and booleans that came as texts made right.
export function validateToolArguments(tool, toolCall) {
  const value = JSON.parse(JSON.stringify(toolCall.arguments ?? {}));
  const errors = [];
  const checked = check(tool.parameters ?? {}, value, "", errors);
  if (errors.length === 0) return checked;
  const received = JSON.stringify(toolCall.arguments ?? {}, null, 2);
  throw new Error(`Validation failed for tool "${toolCall.name}":\n${errors.join("\n")}\n\nReceived arguments:\n${received}`);
}

export function validateToolCall(tools, toolCall) {
  const tool = tools.find((one) => one.name === toolCall.name);
  if (!tool) throw new Error(`Tool "${toolCall.name}" not found`);
  return validateToolArguments(tool, toolCall);
}

const IS = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

function coerced(type, value) {
  if ((type === "number" || type === "integer") && typeof value === "string" && value.trim() !== "" && !Number.isNaN(Number(value))) {
    return Number(value);
  }
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  return type === "string" && (typeof value === "number" || typeof value === "boolean") ? String(value) : value;
}

function check(schema, given, path, errors) {
  const fail = (message) => void errors.push(`  - ${path || "root"}: ${message}`);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const tried = choices.map((choice) => {
      const own = [];
      return { value: check(choice, given, path, own), own };
    });
    const fitting = tried.find(({ own }) => own.length === 0);
    if (!fitting) fail("must match one of the allowed forms");
    return fitting ? fitting.value : given;
  }
  const types = [schema.type ?? []].flat();
  const value = types.some((type) => IS[type]?.(given)) || types.length === 0 ? given : coerced(types[0], given);
  if (types.length > 0 && !types.some((type) => IS[type]?.(value))) {
    fail(`must be ${types.join(" or ")}`);
    return value;
  }
  if ("const" in schema && value !== schema.const) fail(`must be ${JSON.stringify(schema.const)}`);
  if (schema.enum && !schema.enum.includes(value)) fail(`must be one of ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`);
  if (value < schema.minimum || value < schema.exclusiveMinimum) fail(`must be at least ${schema.minimum ?? schema.exclusiveMinimum}`);
  if (value > schema.maximum || value > schema.exclusiveMaximum) fail(`must be at most ${schema.maximum ?? schema.exclusiveMaximum}`);
  if (IS.string(value)) {
    if (value.length < schema.minLength) fail(`must have at least ${schema.minLength} characters`);
    if (value.length > schema.maxLength) fail(`must have at most ${schema.maxLength} characters`);
    if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) fail(`must match ${schema.pattern}`);
  }
  if (IS.array(value)) {
    if (value.length < schema.minItems) fail(`expected at least ${schema.minItems} items`);
    if (value.length > schema.maxItems) fail(`expected at most ${schema.maxItems} items`);
    if (IS.object(schema.items)) return value.map((one, at) => check(schema.items, one, inside(path, at), errors));
  }
  if (IS.object(value)) checkFields(schema, value, path, errors);
  return value;
}

const inside = (path, key) => (path ? `${path}.${key}` : String(key));

function checkFields(schema, value, path, errors) {
  for (const name of schema.required ?? []) if (!(name in value)) errors.push(`  - ${inside(path, name)}: missing`);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (name in value) value[name] = check(field, value[name], inside(path, name), errors);
    else if (field.default !== undefined) value[name] = field.default;
  }
  if (schema.additionalProperties === false) {
    for (const name of Object.keys(value)) if (!(name in (schema.properties ?? {}))) errors.push(`  - ${inside(path, name)}: is not expected`);
  }
}
