// The package with which extensions ask models.

import { call } from "offshoot:native";
import { complete, getModel, getModels, getProviders, stream } from "offshoot:models";

export { Type } from "offshoot:typebox";
export { complete, getModel, getModels, getProviders, stream };
export const completeSimple = complete;
export const streamSimple = stream;
export const uuidv7 = () => call("system.uuidv7");

/// A choice of texts that every provider understands.
export function StringEnum(values, options) {
  return { type: "string", enum: [...values], ...options };
}

export function calculateCost(model, usage) {
  const price = (name) => ((model.cost?.[name] ?? 0) / 1_000_000) * (usage[name] ?? 0);
  const cost = { input: price("input"), output: price("output"), cacheRead: price("cacheRead"), cacheWrite: price("cacheWrite") };
  cost.total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
  usage.cost = cost;
  return cost;
}

export const supportsXhigh = (model) => Boolean(model?.thinkingLevels?.includes("xhigh"));
export const modelsAreEqual = (a, b) => Boolean(a && b && a.provider === b.provider && a.id === b.id);
export const getEnvApiKey = () => undefined;

/// A stream that an extension fills by itself.
export function createAssistantMessageEventStream() {
  const queue = [];
  let wake = () => {};
  let finish;
  const result = new Promise((resolve) => (finish = resolve));
  let isOver = false;
  return {
    push(event) {
      queue.push(event);
      if (event.type === "done") finish(event.message);
      if (event.type === "error") finish(event.error);
      wake();
    },
    end(message) {
      isOver = true;
      if (message) finish(message);
      wake();
    },
    result: () => result,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (queue.length > 0) {
          const event = queue.shift();
          yield event;
          if (event.type === "done" || event.type === "error") return;
        }
        if (isOver) return;
        await new Promise((resolve) => (wake = resolve));
      }
    },
  };
}
