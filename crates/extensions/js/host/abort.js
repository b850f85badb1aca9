// Stopping, as Node has it.

export const { AbortController, AbortSignal, Event, EventTarget } = globalThis;
