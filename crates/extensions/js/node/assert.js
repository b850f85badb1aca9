// Assertions.

export class AssertionError extends Error {
  name = "AssertionError";
}

export function ok(value, message) {
  if (!value) throw message instanceof Error ? message : new AssertionError(message ?? "The value is not true");
}

export function strictEqual(actual, expected, message) {
  ok(Object.is(actual, expected), message ?? `${String(actual)} is not ${String(expected)}`);
}

export function deepStrictEqual(actual, expected, message) {
  ok(JSON.stringify(actual) === JSON.stringify(expected), message ?? "The values are not the same");
}

export default Object.assign(ok, { ok, equal: strictEqual, strictEqual, deepEqual: deepStrictEqual, deepStrictEqual, AssertionError });
