// Streams of events, which one side fills and another one reads.

/// A queue of events that ends with a result.
export class EventStream {
  constructor(isComplete, extractResult) {
    Object.assign(this, { isComplete, extractResult, queue: [], isOver: false, waiting: [] });
    this.finished = new Promise((resolve) => (this.finish = resolve));
  }
  push(event) {
    if (this.isOver) return;
    if (this.isComplete(event)) {
      this.isOver = true;
      this.finish(this.extractResult(event));
    }
    this.queue.push(event);
    this.wake();
  }
  end(result) {
    this.isOver = true;
    if (result !== undefined) this.finish(result);
    this.wake();
  }
  wake() {
    for (const wake of this.waiting.splice(0)) wake();
  }
  result() {
    return this.finished;
  }
  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.queue.length > 0) yield this.queue.shift();
      if (this.isOver) return;
      await new Promise((resolve) => this.waiting.push(resolve));
    }
  }
}

/// The events of an answer; its result is the message.
export class AssistantMessageEventStream extends EventStream {
  constructor() {
    super((event) => event.type === "done" || event.type === "error", (event) => event.message ?? event.error);
  }
}

export const createAssistantMessageEventStream = () => new AssistantMessageEventStream();

/// Returns a stream that is filled from another one as soon as that is there.
export function lazyStream(load) {
  const stream = new AssistantMessageEventStream();
  Promise.resolve().then(load).then(
    async (inner) => {
      for await (const event of inner) stream.push(event);
      stream.end(await inner.result());
    },
    (error) => stream.push({ type: "error", reason: "error", error: failure(error.message) }),
  );
  return stream;
}

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
export const noUsage = () => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { ...NO_COST } });

/// An answer that failed.
export function failure(errorMessage, model = {}, stopReason = "error") {
  const { api = "", provider = "", id = "" } = model;
  return { role: "assistant", content: [], api, provider, model: id, usage: noUsage(), stopReason, errorMessage, timestamp: Date.now() };
}
