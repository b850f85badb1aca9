// A client of `offshoot --mode rpc`: commands in, answers and events out. One file, no dependencies; Node 22 runs it.
//
//   const agent = new Offshoot({ session: "work" });
//   for (const row of await agent.tree()) console.log(row.text);
//   await agent.navigate("branch:2");
//   await agent.prompt("Try it with a mutex");
//   await agent.close();
//
// Commands that have no method of their own run with `call`, for instance `agent.call("diff", { a: "@one", b: "@two" })`.
// The protocol is described in docs/rpc.md; `offshoot schema rpc` prints its JSON Schema.
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
export type Fields = { [key: string]: Json | undefined };

/** An entry of the tree in one line. */
export interface Row {
  id: string;
  parentId: string | null;
  type: string;
  depth: number;
  text: string;
  isLeaf: boolean;
}

/** The result of a move of the leaf. */
export interface Navigated {
  cancelled: boolean;
  aborted: boolean;
  editorText?: string;
  leafId: string | null;
}

/** A branch; its other fields are those of `offshoot branches --json`. */
export interface Branch {
  ref: string;
  tipId: string;
  name: string;
  isCurrent: boolean;
}

export interface AgentEvent {
  type: string;
  seq?: number;
  [field: string]: Json | undefined;
}

export interface Options {
  /** The program and its first arguments. */
  program?: string[];
  /** The session to continue; a new one if absent. */
  session?: string;
  args?: string[];
  onEvent?: (event: AgentEvent) => void;
}

interface Pending {
  resolve: (data: any) => void;
  reject: (error: Error) => void;
}

export class Offshoot {
  private readonly process: ChildProcessByStdio<Writable, Readable, null>;
  private readonly pending = new Map<string, Pending>();
  private readonly listeners = new Set<(event: AgentEvent) => void>();
  private readonly ended: Promise<number>;
  private number = 0;

  constructor(options: Options = {}) {
    const [program, ...first] = options.program ?? ["offshoot"];
    const session = options.session === undefined ? [] : ["--session", options.session];
    const args = [...first, "--mode", "rpc", ...session, ...(options.args ?? [])];
    this.process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    if (options.onEvent) this.listeners.add(options.onEvent);
    this.ended = new Promise((resolve) => {
      this.process.on("exit", (code) => this.end(code ?? 1, resolve));
      this.process.on("error", () => this.end(1, resolve));
    });
    // A command that the program did not read is rejected when it ends.
    this.process.stdin.on("error", () => {});
    this.read();
  }

  /** Runs a command and returns the data of its answer. */
  call<Data = any>(command: string, fields: Fields = {}): Promise<Data> {
    const id = `ts-${++this.number}`;
    return new Promise<Data>((resolve, reject) => {
      if (this.process.exitCode !== null) return reject(new Error("the program has ended"));
      this.pending.set(id, { resolve, reject });
      this.write({ ...fields, type: command, id });
    });
  }

  /** Calls a function for each event; returns a function that ends this. */
  onEvent(listener: (event: AgentEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Sends a prompt, waits until the agent is idle, and returns the text of the last answer. */
  async prompt(message: string): Promise<string | null> {
    let stop = () => {};
    const settled = new Promise<void>((resolve) => {
      stop = this.onEvent((event) => event.type === "agent_settled" && resolve());
    });
    try {
      const { disposition } = await this.call<{ disposition: string }>("prompt", { message });
      if (disposition === "started") await Promise.race([settled, this.ended]);
    } finally {
      stop();
    }
    return (await this.call<{ text: string | null }>("get_last_assistant_text")).text;
  }

  /** Returns the entries of all branches in one line each. */
  async tree(): Promise<Row[]> {
    return (await this.call<{ rows: Row[] }>("get_tree", { preview: true })).rows;
  }

  /** Moves the leaf to an entry, or with null to before the first one. */
  navigate(targetId: string | null, options: { summarize?: boolean; note?: string; label?: string } = {}): Promise<Navigated> {
    return this.call("navigate_tree", { targetId, ...options });
  }

  /** Labels an entry; null removes the label. */
  async label(entryId: string, label: string | null): Promise<void> {
    await this.call("set_label", { entryId, label });
  }

  /** Returns all branches, newest first. */
  async branches(): Promise<Branch[]> {
    return (await this.call<{ branches: Branch[] }>("list_branches")).branches;
  }

  /** Answers an `extension_ui_request`: `{ value }`, `{ confirmed }` or `{ cancelled: true }`. */
  answerDialog(dialog: AgentEvent, answer: Fields): void {
    this.write({ type: "extension_ui_response", id: dialog.id, ...answer });
  }

  /** Ends the program and returns its exit code. */
  close(): Promise<number> {
    this.process.stdin.end();
    return this.ended;
  }

  private write(record: Fields): void {
    this.process.stdin.write(`${JSON.stringify(record)}\n`);
  }

  private read(): void {
    let rest = Buffer.alloc(0);
    this.process.stdout.on("data", (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      // Only a line feed ends a record: texts may contain other separators.
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        this.take(JSON.parse(rest.subarray(0, end).toString("utf8")));
        rest = rest.subarray(end + 1);
      }
    });
  }

  private take(record: any): void {
    const pending = record.type === "response" ? this.pending.get(record.id) : undefined;
    if (!pending) return this.listeners.forEach((listener) => listener(record));
    this.pending.delete(record.id);
    if (record.success) pending.resolve(record.data);
    else pending.reject(new Error(record.error));
  }

  private end(code: number, resolve: (code: number) => void): void {
    for (const { reject } of this.pending.values()) reject(new Error("the program has ended"));
    this.pending.clear();
    resolve(code);
  }
}
