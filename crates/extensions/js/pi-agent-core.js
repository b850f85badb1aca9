// The package of which extensions use types, and little else.

export { convertToLlm } from "offshoot:pi-coding-agent";
