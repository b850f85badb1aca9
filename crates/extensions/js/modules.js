// CommonJS: files that are run with `require` and `module`, as Node does it.

import { modules as native } from "offshoot:native";

const cache = Object.create(null);
const dirname = (path) => path.slice(0, path.lastIndexOf("/")) || "/";

export class Module {
  children = [];
  exports = {};
  loaded = false;
  paths = [];

  constructor(id = "", parent = undefined) {
    Object.assign(this, { id, filename: id, path: dirname(id), parent });
  }
  require(name) {
    return requireFrom(this.filename)(name);
  }
}

/// Runs a file, or returns what it has exported so far if it runs already.
function load(path, parent) {
  const known = cache[path];
  if (known) return known.exports;
  const module = new Module(path, parent);
  cache[path] = module;
  parent?.children.push(module);
  try {
    if (path.endsWith(".json")) module.exports = parsed(path);
    else native.compile(path).call(module.exports, module.exports, requireFrom(path, module), module, path, module.path);
    module.loaded = true;
  } catch (error) {
    delete cache[path];
    throw error;
  }
  return module.exports;
}

function parsed(path) {
  try {
    return JSON.parse(native.text(path));
  } catch (error) {
    throw new SyntaxError(`${path}: ${error.message}`);
  }
}

/// A module of ours is its default export, such as the class `EventEmitter`, or all its names.
function own(name) {
  const names = native.namespace(name);
  return names.default ?? names;
}

/// Makes the function `require` of a file.
export function requireFrom(base, parent) {
  const find = (name) => {
    if (typeof name !== "string" || name === "") throw new TypeError("`require` needs the name of a module");
    return native.resolve(base, name, true);
  };
  const require = (name) => {
    const found = find(name);
    if (found.startsWith("offshoot:")) return own(found);
    if (found.startsWith("commonjs:")) return load(found.slice("commonjs:".length), parent);
    const names = native.namespace(found);
    return "module.exports" in names ? names["module.exports"] : names;
  };
  const resolve = (name) => {
    const found = find(name);
    return found.startsWith("offshoot:") ? name : found.replace(/^commonjs:/, "");
  };
  resolve.paths = () => [];
  return Object.assign(require, { resolve, cache, main: undefined, extensions: { ".js": undefined, ".json": undefined } });
}

native.serve((what, path) => (what === "load" ? load(path) : requireFrom(path)));
