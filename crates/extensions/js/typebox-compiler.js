// Checkers of one schema. They interpret it: the engine compiles no code at run time.

import { Check, Decode, Encode, Errors, Parse } from "offshoot:typebox-value";

export class TypeCheck {
  constructor(schema, references = []) {
    Object.assign(this, { schema, references });
  }
  Check(value) {
    return Check(this.schema, this.references, value);
  }
  Errors(value) {
    return Errors(this.schema, this.references, value);
  }
  Decode(value) {
    return Decode(this.schema, this.references, value);
  }
  Encode(value) {
    return Encode(this.schema, this.references, value);
  }
  Parse(value) {
    return Parse(this.schema, this.references, value);
  }
  Schema() {
    return this.schema;
  }
  Code() {
    return "";
  }
}

export const Compile = (schema, references) => new TypeCheck(schema, references);
export const TypeCompiler = { Compile, Code: () => "" };
export default Compile;
