// A client of pi's RPC protocol, which both programs speak: requests, events, and dialogs that it cancels.
import { spawn } from "node:child_process";

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class RpcClient {
  events = [];
  stderr = "";
  #waiting = new Map();
  #next = 0;
  #uses = 0;

  constructor(file, args, env, cwd) {
    this.child = spawn(file, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
    this.child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
    });
    let rest = "";
    this.child.stdout.setEncoding("utf8").on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) this.#line(line);
    });
    this.child.stdin.on("error", () => {});
    this.child.on("error", (error) => this.#end(`it did not start: ${error.message}`));
    this.child.on("exit", (code, signal) => this.#end(`the program ended (${signal ?? code})`));
  }

  /** Sends a command and returns the data of its answer. */
  request(command, limit) {
    if (this.ended) return Promise.reject(new Error(this.ended));
    const id = `c${++this.#next}`;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#send({ id, ...command });
    return within(answer, limit, `no answer to ${command.type}`);
  }

  /** Forgets the events of what was done before; those before the first use belong to it. */
  startUse() {
    if (this.#uses++) this.events = [];
  }

  seen(type) {
    return this.events.some((event) => event.type === type);
  }

  async until(found, limit) {
    for (const start = Date.now(); !found(); await sleep(15)) {
      if (this.ended) throw new Error(this.ended);
      if (Date.now() - start > limit) {
        this.#send({ type: "abort" });
        throw new Error("the turn did not end");
      }
    }
  }

  /** Returns the errors of extensions among the events. */
  errors() {
    return this.events.filter((event) => event.type === "extension_error").map((event) => event.error);
  }

  /** Returns what the user was shown and asked, in order. */
  shown() {
    const quiet = new Set(["setStatus", "setWidget", "setTitle"]);
    const dialogs = this.events.filter((event) => event.type === "extension_ui_request" && !quiet.has(event.method));
    const messages = this.events.filter((event) => event.type === "message_end" && event.message?.role !== "assistant");
    return [
      ...dialogs.map(({ method, title, message, options, notifyType, text }) => ({ method, title, message, options, notifyType, text })),
      ...messages.map(({ message }) => ({ role: message.role, content: message.content })),
    ];
  }

  async stop() {
    this.child.stdin.end();
    for (let waited = 0; !this.ended && waited < 1500; waited += 50) await sleep(50);
    this.child.kill("SIGKILL");
  }

  #send(record) {
    this.child.stdin.write(`${JSON.stringify(record)}\n`);
  }

  #line(line) {
    let record;
    try {
      record = JSON.parse(line);
    } catch {
      return;
    }
    const waiting = record.type === "response" && this.#waiting.get(record.id);
    if (waiting) {
      this.#waiting.delete(record.id);
      if (record.success) waiting.resolve(record.data);
      else waiting.reject(new Error(record.error));
      return;
    }
    this.events.push(record);
    const asks = ["select", "confirm", "input", "editor"].includes(record.method);
    if (record.type === "extension_ui_request" && asks) this.#send({ type: "extension_ui_response", id: record.id, cancelled: true });
  }

  #end(reason) {
    this.ended ??= reason;
    for (const { reject } of this.#waiting.values()) reject(new Error(this.ended));
    this.#waiting.clear();
  }
}

function within(promise, limit, text) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(text)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
