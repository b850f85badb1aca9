// A `SessionStore` of the Claude Agent SDK: transcripts in session files or in PostgreSQL, through `offshoot`.
//
//   const place = "/var/lib/transcripts";                              // or "postgres://ann@db.example/team"
//   const sessionStore = new OffshootSessionStore(place, { fold: foldSessionSummary });
//   for await (const message of query({ prompt: "Hello", options: { sessionStore } })) console.log(message);
//
// Each transcript is a session, in which each entry of the transcript is one entry. The store in Python uses the same
// names and contents. One file, no dependencies at run time; Node 22 runs it. See docs/claude-sessions.md.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  SessionKey,
  SessionStore,
  SessionStoreEntry,
  SessionSummaryEntry,
} from "@anthropic-ai/claude-agent-sdk";

/** The type of the entries that hold entries of a transcript. */
const CUSTOM_TYPE = "claude-agent-sdk";
/** The last part of the name of the session that holds the summaries of a project. Other SDKs have other summaries. */
const SUMMARIES = "==summaries-typescript";
/** The longest name of a session, and of its part for the project. Files have names of at most 255 bytes. */
const LONGEST_NAME = 240;
const LONGEST_PROJECT = 100;
/** The largest number of outdated summaries that are kept beside those of all sessions. */
const OUTDATED = 100;
/** How many transcripts the store remembers the uuids of. */
const REMEMBERED = 256;

export interface StoreOptions {
  /** The program and its first arguments. */
  program?: string[];
  /** `foldSessionSummary` of the SDK. Without it the SDK loads each session that it lists. */
  fold?: (previous: undefined, key: SessionKey, entries: SessionStoreEntry[]) => SessionSummaryEntry;
}

/** A session: its name, the time of the last change in milliseconds, and a text that differs after each change. */
interface Stored {
  name: string;
  mtime: number;
  version: string;
}

/** A summary as the store keeps it: that of one version of a session. */
interface SummaryRow {
  type: "summary";
  session_id: string;
  version: string;
  data: Record<string, unknown>;
  [key: string]: unknown;
}

export class OffshootStoreError extends Error {}

/** Transcripts in the files of a directory, or in a PostgreSQL database with the tables of `offshoot db init`. */
export class OffshootSessionStore implements SessionStore {
  readonly listSessionSummaries?: (projectKey: string) => Promise<SessionSummaryEntry[]>;
  private readonly place: string;
  private readonly program: string[];
  private readonly isDatabase: boolean;
  private readonly uuids = new Map<string, Set<string>>();
  /** The last append to each transcript that has not ended. */
  private readonly appends = new Map<string, Promise<void>>();

  constructor(place: string, options: StoreOptions = {}) {
    this.place = place;
    this.program = options.program ?? ["offshoot"];
    this.isDatabase = /^postgres(ql)?:\/\//.test(place);
    const fold = options.fold;
    if (fold) this.listSessionSummaries = (projectKey) => this.summaries(projectKey, fold);
  }

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const name = nameOf(key);
    const before = this.appends.get(name) ?? Promise.resolve();
    const append = before.then(() => this.appendNext(name, entries));
    // The next append runs also if this one fails.
    const ended = append.catch(() => undefined);
    this.appends.set(name, ended);
    try {
      await append;
    } finally {
      if (this.appends.get(name) === ended) this.appends.delete(name);
    }
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const stored = await this.read(nameOf(key));
    // Two programs may have appended an entry at the same time.
    return stored && withoutRepetitions(stored, new Set());
  }

  async listSessions(projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>> {
    const sessions = await this.sessions(projectKey);
    return sessions.map(({ name, mtime }) => ({ sessionId: name, mtime }));
  }

  async delete(key: SessionKey): Promise<void> {
    const name = nameOf(key);
    const isPart = (other: string) => other === name || other.startsWith(`${name}.`);
    const names = key.subpath === undefined ? (await this.list()).map((stored) => stored.name).filter(isPart) : [name];
    for (const one of names) {
      await this.remove(one);
      this.uuids.delete(one);
    }
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const prefix = `${nameOf({ projectKey: key.projectKey, sessionId: key.sessionId })}.`;
    const parts = (await this.list()).filter(({ name }) => name.startsWith(prefix));
    return parts.map(({ name }) => decode(name.slice(prefix.length)));
  }

  private async appendNext(name: string, entries: SessionStoreEntry[]): Promise<void> {
    let known = this.uuids.get(name);
    this.uuids.delete(name);
    const isKnown = (entry: SessionStoreEntry) => known?.has(uuidOf(entry) ?? "");
    // A known uuid means a repetition. The session is read again, because another program may have deleted it.
    if (entries.length > 0 && (!known || entries.some(isKnown))) {
      known = new Set();
      withoutRepetitions((await this.read(name)) ?? [], known);
    }
    known ??= new Set();
    await this.write(name, withoutRepetitions(entries, known));
    this.uuids.set(name, known);
    const oldest = this.uuids.keys().next();
    if (this.uuids.size > REMEMBERED && !oldest.done) this.uuids.delete(oldest.value);
  }

  private async summaries(
    projectKey: string,
    fold: NonNullable<StoreOptions["fold"]>,
  ): Promise<SessionSummaryEntry[]> {
    const name = `${projectOf(projectKey)}.${SUMMARIES}`;
    const rows = ((await this.read(name)) ?? []) as SummaryRow[];
    const kept = new Map(rows.map((row) => [row.session_id, row]));
    const current: SummaryRow[] = [];
    let added: SummaryRow[] = [];
    const summaries: SessionSummaryEntry[] = [];
    for (const { name: sessionId, mtime, version } of await this.sessions(projectKey)) {
      let row = kept.get(sessionId);
      if (row?.version !== version) {
        const key = { projectKey, sessionId };
        const entries = await this.load(key);
        if (!entries) continue;
        row = { type: "summary", session_id: sessionId, version, data: fold(undefined, key, entries).data };
        added.push(row);
      }
      current.push(row);
      summaries.push({ sessionId, mtime, data: row.data });
    }
    if (rows.length > current.length + OUTDATED) {
      await this.remove(name);
      added = current;
    }
    await this.write(name, added);
    return summaries;
  }

  /** Returns the transcripts of a project, by their session id, without those of sub-agents. */
  private async sessions(projectKey: string): Promise<Stored[]> {
    const prefix = `${projectOf(projectKey)}.`;
    const stored = (await this.list()).filter(({ name }) => name.startsWith(prefix));
    const parts = stored.map((one) => ({ ...one, name: one.name.slice(prefix.length) }));
    const sessions = parts.filter(({ name }) => !name.includes(".") && !name.startsWith("=="));
    return sessions.map((one) => ({ ...one, name: decode(one.name) }));
  }

  private async list(): Promise<Stored[]> {
    if (this.isDatabase) {
      const rows: Array<{ name: string; changed: string; bytes: number }> = JSON.parse(
        await this.run(["db", "list", this.place, "--json"]),
      );
      return rows.map(({ name, changed, bytes }) => {
        return { name, mtime: Date.parse(changed), version: `${changed} ${bytes}` };
      });
    }
    const names = await orIfMissing(readdir(this.place), []);
    const files = names.filter((name) => name.endsWith(".jsonl")).map(async (name): Promise<Stored[]> => {
      const found = await orIfMissing(stat(join(this.place, name), { bigint: true }), null);
      if (!found) return [];
      const mtime = Number(found.mtimeNs / 1_000_000n);
      return [{ name: name.slice(0, -".jsonl".length), mtime, version: `${found.mtimeNs} ${found.size}` }];
    });
    return (await Promise.all(files)).flat();
  }

  private async write(name: string, entries: SessionStoreEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const drafts = entries.map((data) => `${JSON.stringify({ type: "custom", customType: CUSTOM_TYPE, data })}\n`);
    if (!this.isDatabase) await mkdir(this.place, { recursive: true });
    const words = ["append", "--create", this.address(name)];
    try {
      await this.run(words, drafts.join(""));
    } catch (error) {
      if (!(error instanceof OffshootStoreError && / exists (already|in )/.test(error.message))) throw error;
      // Another program created the session meanwhile. Nothing was written.
      await this.run(words, drafts.join(""));
    }
  }

  private async read(name: string): Promise<SessionStoreEntry[] | null> {
    const address = this.address(name);
    if (!this.isDatabase) {
      const content = await orIfMissing(readFile(address), null);
      return content && entriesOf(content, address);
    }
    const directory = await mkdtemp(join(tmpdir(), "offshoot-"));
    try {
      const copy = join(directory, "copy.jsonl");
      await this.run(["export", address, "--all", "-o", copy]);
      return entriesOf(await readFile(copy), `session ${name}`);
    } catch (error) {
      if (isNoSession(error)) return null;
      throw error;
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  private async remove(name: string): Promise<void> {
    const address = this.address(name);
    if (!this.isDatabase) return rm(address, { force: true });
    try {
      await this.run(["db", "delete", address]);
    } catch (error) {
      if (!isNoSession(error)) throw error;
    }
  }

  /** Returns the path of a session file, or the address of a session in the database. */
  private address(name: string): string {
    if (!this.isDatabase) return join(this.place, `${name}.jsonl`);
    const [database = "", parameters] = this.place.split(/\?(.*)/s);
    return `${database.replace(/\/+$/, "")}/${name}${parameters === undefined ? "" : `?${parameters}`}`;
  }

  private run(words: string[], text = ""): Promise<string> {
    const [program = "", ...first] = this.program;
    return new Promise((resolve, reject) => {
      const child = spawn(program, [...first, ...words], { stdio: ["pipe", "pipe", "pipe"] });
      const output: Buffer[] = [];
      const errors: Buffer[] = [];
      child.stdout.on("data", (bytes: Buffer) => output.push(bytes));
      child.stderr.on("data", (bytes: Buffer) => errors.push(bytes));
      // A program that ends early does not read everything; its exit code says why.
      child.stdin.on("error", () => undefined);
      child.on("error", (error) => reject(new OffshootStoreError(`cannot run ${program}: ${error.message}`)));
      child.on("close", (code) => {
        if (code === 0) resolve(Buffer.concat(output).toString());
        else reject(new OffshootStoreError(Buffer.concat(errors).toString().trim()));
      });
      child.stdin.end(text);
    });
  }
}

/** Returns the entries of a transcript from the lines of a session. */
function entriesOf(content: Buffer, place: string): SessionStoreEntry[] {
  const entries: SessionStoreEntry[] = [];
  const ids = new Set<unknown>([null, undefined]);
  content.toString().split("\n").forEach((line, index) => {
    const number = index + 1;
    if (line === "" && number > 1) return;
    let record;
    try {
      record = JSON.parse(line);
      if (typeof record !== "object" || record === null) throw new Error("no object");
    } catch (error) {
      // A line without an end is that of a program that died: its append never returned.
      if (number > 1 && !line.endsWith("}")) return;
      const reason = error instanceof Error ? error.message : "";
      throw new OffshootStoreError(`${place}: line ${number} cannot be read (${reason}); see \`offshoot check\``);
    }
    if (number === 1) {
      if (record.type === "session") return;
      throw new OffshootStoreError(`${place}: line 1 is no header of a session`);
    }
    if (!ids.has(record.parentId)) {
      throw new OffshootStoreError(`${place}: the entry before line ${number} is missing; see \`offshoot check\``);
    }
    ids.add(record.id);
    if (record.type === "custom" && record.customType === CUSTOM_TYPE) entries.push(record.data);
  });
  return entries;
}

/** Returns the entries that have no uuid, or a new one, and adds the new uuids to the known ones. */
function withoutRepetitions(entries: SessionStoreEntry[], known: Set<string>): SessionStoreEntry[] {
  return entries.filter((entry) => {
    const uuid = uuidOf(entry);
    if (uuid === undefined) return true;
    const isNew = !known.has(uuid);
    known.add(uuid);
    return isNew;
  });
}

function uuidOf(entry: SessionStoreEntry): string | undefined {
  const uuid: unknown = entry?.uuid;
  return typeof uuid === "string" && uuid !== "" ? uuid : undefined;
}

/** Returns the name of the session of a transcript: project, session and path, with a dot between them. */
function nameOf(key: SessionKey): string {
  const parts = [projectOf(key.projectKey), encode(key.sessionId)];
  if (key.subpath !== undefined) parts.push(encode(key.subpath));
  const name = parts.join(".");
  if (parts.includes("") || name.length > LONGEST_NAME) {
    const reason = `a part is empty, or it has more than ${LONGEST_NAME} bytes`;
    throw new OffshootStoreError(`no session can be named ${JSON.stringify(name)}: ${reason}`);
  }
  return name;
}

/** Returns the first part of a name. It is never decoded, so a long one may end with a hash. */
function projectOf(projectKey: string): string {
  const part = encode(projectKey);
  if (part.length <= LONGEST_PROJECT) return part;
  const digest = createHash("sha256").update(Buffer.from(projectKey, "utf16le")).digest("hex");
  return `${part.slice(0, LONGEST_PROJECT - 34)}==${digest.slice(0, 32)}`;
}

/**
 * Writes all units of UTF-16 but small letters, digits, `-` and `_` as `=`, their number and `=`.
 * Some file systems ignore case.
 */
function encode(text: string): string {
  return text.replace(/[^a-z0-9_-]/g, (unit) => `=${unit.charCodeAt(0).toString(16)}=`);
}

function decode(part: string): string {
  return part.replace(/=([0-9a-f]+)=/g, (_, number: string) => String.fromCharCode(parseInt(number, 16)));
}

function isNoSession(error: unknown): boolean {
  return error instanceof OffshootStoreError && error.message.includes("there is no session ");
}

/** Returns the result of an operation on a file, or another value if the file does not exist. */
async function orIfMissing<T, U>(result: Promise<T>, missing: U): Promise<T | U> {
  try {
    return await result;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return missing;
    throw error;
  }
}
