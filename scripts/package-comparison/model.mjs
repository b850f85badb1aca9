// Plays a model service (chat completions) on loopback. To the prompt `call NAME` it answers with a call of that tool, whose
// arguments are made from the tool's schema; to everything else with a sentence. It also serves a page to fetch.
import { createServer } from "node:http";

export async function startModel() {
  let offered = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.method !== "POST") {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<html><head><title>A page</title></head><body><h1>A page</h1><p>Some text.</p></body></html>");
      return;
    }
    const asked = JSON.parse(body || "{}");
    if (asked.tools?.length) offered = asked.tools.map((tool) => tool.function ?? tool);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of answer(asked, offered, server.address().port)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const tools = () => offered.map(({ name, parameters }) => ({ name, parameters }));
  return { port: server.address().port, tools };
}

function answer(asked, offered, port) {
  const last = asked.messages?.at(-1);
  const text = typeof last?.content === "string" ? last.content : last?.content?.map((part) => part.text).join("");
  const name = last?.role === "user" && /^call (\S+)$/.exec(text ?? "")?.[1];
  const tool = name && offered.find((one) => one.name === name);
  const called = tool && { index: 0, id: "call_1", type: "function", function: { name, arguments: JSON.stringify(example(tool.parameters, "", port) ?? {}) } };
  const delta = called ? { role: "assistant", tool_calls: [called] } : { role: "assistant", content: "Fine." };
  const base = { id: "r", object: "chat.completion.chunk", created: 0, model: "one" };
  return [
    { ...base, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: called ? "tool_calls" : "stop" }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ];
}

/** Returns a value that a schema accepts: required properties only, the same value in every run. */
function example(schema, name, port) {
  if (!schema || typeof schema !== "object") return "example";
  if ("const" in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (choice) return example(choice, name, port);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object" || schema.properties) {
    const required = schema.required ?? [];
    return Object.fromEntries(required.map((key) => [key, example(schema.properties?.[key], key, port)]));
  }
  if (type === "array") return [example(schema.items, name, port)];
  if (type === "number" || type === "integer") return Math.max(schema.minimum ?? 1, 1);
  if (type === "boolean") return true;
  if (/url|uri|href/i.test(name)) return `http://127.0.0.1:${port}/page`;
  if (/path|file/i.test(name)) return "note.txt";
  if (/command|script|cmd/i.test(name)) return "printf hello";
  return "example";
}
