// The package of the loop between a model and its tools.

export { convertToLlm } from "offshoot:pi-coding-agent";
export * from "offshoot:agent-loop";
