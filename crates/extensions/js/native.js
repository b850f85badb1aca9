// The border: everything that leaves or enters script goes through here, as JSON.

const native = globalThis.__native;
export const facts = JSON.parse(globalThis.__facts);
delete globalThis.__native;
delete globalThis.__facts;

// Script may change what is global; the border must not change with it.
const { parse, stringify } = JSON;
const NativePromise = Promise;

export function spell(value) {
  const text = stringify(value);
  return text === undefined ? "null" : text;
}

export function call(name, args) {
  return parse(native.call(name, spell(args ?? {})));
}

/// Loads a module when it is needed first: what an extension does not use costs it nothing at the start.
export function lazily(load) {
  let loaded;
  return () => (loaded ??= load());
}

const provided = new Map();

/// What `modules.js` needs to find, compile and run files.
export const modules = native;

/// Says what a module of ours puts into the global scope.
export function provide(module, values) {
  provided.set(module, values);
}

/// Returns what a module puts into the global scope; runs it at once if it has not run yet.
export function required(module) {
  if (!provided.has(module)) native.run(module);
  return provided.get(module);
}

let nextOp = 1;
const ops = new Map();

/// Begins something that takes time. An abort of the signal stops it.
export function start(name, args, signal) {
  const op = nextOp++;
  return new NativePromise((resolve, reject) => {
    ops.set(op, { resolve, reject });
    native.start(op, name, spell(args ?? {}));
    if (signal) {
      if (signal.aborted) native.stop(op);
      else signal.addEventListener("abort", () => ops.has(op) && native.stop(op));
    }
  });
}

export function settle(op, isOk, text) {
  const waiting = ops.get(op);
  if (!waiting) return;
  ops.delete(op);
  if (isOk) waiting.resolve(parse(text));
  else waiting.reject(new Error(text));
}

export function finish(id, isOk, text) {
  native.finish(id, isOk, text);
}

/// The places of an error. Some engines repeat its message before them.
function places(error) {
  const stack = String(error.stack ?? "");
  const first = stack.search(/^\s*at /m);
  return first < 0 ? "" : stack.slice(first);
}

/// Errors of the language, whose class says what happened. Other classes are an extension's own.
const OF_LANGUAGE = ["TypeError", "ReferenceError", "RangeError", "SyntaxError", "URIError", "EvalError", "InternalError"];

/// Spells an error with the places where it happened.
export function described(error) {
  if (error === null || error === undefined) return String(error);
  try {
    if (typeof error === "object" && "message" in error) {
      const name = OF_LANGUAGE.includes(error.name) ? `${error.name}: ` : "";
      return `${name}${error.message}\n${places(error)}`.trimEnd();
    }
    return String(error);
  } catch {
    return "an error that cannot be read";
  }
}

export function report(doing, error) {
  call("host.report", { doing, message: described(error) });
}
