// Shapes: what an entry says, from its line. `src/wire.rs` writes most of them as they are used here; calls, results and
// reports of usage stand as the session has them, and get their short names here.

// A line that is no JSON is a damaged entry.
function shaped(line) {
  let body;
  try {
    body = JSON.parse(line);
  } catch {
    return { k: "damaged" };
  }
  if (body?.role === "toolResult") return resultOf(body);
  if (Array.isArray(body?.b)) body.b = body.b.map((block) => (block?.type === "toolCall" ? callOf(block) : block));
  if (body?.u !== undefined) body.u = usageOf(body.u);
  return body;
}

function resultOf(message) {
  const blocks = Array.isArray(message.content) ? message.content : [];
  return { k: "result", n: message.toolName, c: message.toolCallId, x: message.isError === true,
    b: blocks.map((block) => ({ p: block?.text ?? "" })) };
}

function callOf(block) {
  return { c: block.id ?? "", n: block.name, a: block.arguments };
}

// Tokens and cost; what is no number counts as none.
function usageOf(usage) {
  const number = (value) => (typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0);
  const parts = (of) => ["input", "output", "cacheRead", "cacheWrite"].map((key) => number(of?.[key]));
  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  const [input, output, read, written] = parts(usage);
  return { input, output, read, written, total: number(usage?.totalTokens) || input + output + read + written,
    cost: number(usage?.cost?.total) || sum(parts(usage?.cost)) };
}
