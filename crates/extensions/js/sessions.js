// Sessions that an extension opens beside the agent's, and questions about entries that it has.

import { call } from "offshoot:native";
import { readable } from "offshoot:session";

export const CURRENT_SESSION_VERSION = 3;

const text = (value) => (value === undefined || value === null ? undefined : String(value));

/// A session: a file, or in memory. The tree is the engine's; nothing of it is kept here.
export class SessionManager {
  #session;

  constructor(session) {
    this.#session = session;
    Object.assign(this, readable(session));
  }

  static create(cwd, dir, options) {
    return new SessionManager(call("sessions.create", { cwd: text(cwd), dir: text(dir), ...options }));
  }
  static open(path, dir, cwd) {
    return new SessionManager(call("sessions.open", { path: String(path), dir: text(dir), cwd: text(cwd) }));
  }
  static continueRecent(cwd, dir) {
    return new SessionManager(call("sessions.continueRecent", { cwd: text(cwd), dir: text(dir) }));
  }
  static inMemory(cwd, options, entries) {
    return new SessionManager(call("sessions.inMemory", { cwd: text(cwd), ...options, entries }));
  }
  static forkFrom(path, cwd, dir, options) {
    return new SessionManager(call("sessions.forkFrom", { path: String(path), cwd: text(cwd), dir: text(dir), ...options }));
  }
  static findById(cwd, id, dir) {
    return call("sessions.find", { cwd: text(cwd), id: String(id), dir: text(dir) }) ?? undefined;
  }
  static async list(cwd, dir, onProgress) {
    return listed(call("sessions.list", { cwd: text(cwd), dir: text(dir) }), onProgress);
  }
  static async listAll(dirOrProgress, onProgress) {
    const dir = typeof dirOrProgress === "string" ? dirOrProgress : undefined;
    return listed(call("sessions.listAll", { dir }), typeof dirOrProgress === "function" ? dirOrProgress : onProgress);
  }

  /// The number that the host knows the session by.
  static numberOf(manager) {
    return manager instanceof SessionManager ? manager.#session : undefined;
  }

  #append(draft) {
    return call("session.append", { session: this.#session, draft });
  }
  appendMessage(message) {
    return this.#append({ type: "message", message });
  }
  appendThinkingLevelChange(thinkingLevel) {
    return this.#append({ type: "thinking_level_change", thinkingLevel });
  }
  appendModelChange(provider, modelId) {
    return this.#append({ type: "model_change", provider, modelId });
  }
  appendUsage(kind, provider, model, usage, note) {
    return this.getEntry(this.#append({ type: "usage", kind, provider, model, usage, note }));
  }
  appendCompaction(summary, firstKeptEntryId, tokensBefore, details, fromHook, usage) {
    return this.#append({ type: "compaction", summary, firstKeptEntryId, tokensBefore, details, fromHook, usage });
  }
  appendCustomEntry(customType, data) {
    return this.#append({ type: "custom", customType, data });
  }
  appendCustomMessageEntry(customType, content, display, details) {
    return this.#append({ type: "custom_message", customType, content, display: Boolean(display), details });
  }
  appendContextEdit(targetId, replacement) {
    return this.#append({ type: "context_edit", targetId, replacement });
  }
  appendLabelChange(targetId, label) {
    return this.#append({ type: "label", targetId, label });
  }
  appendSessionInfo(name) {
    return this.#append({ type: "session_info", name });
  }
  newSession(options) {
    call("sessions.close", { session: this.#session });
    const { cwd, dir } = this.#place ?? {};
    const made = dir ? call("sessions.create", { cwd, dir, ...options }) : call("sessions.inMemory", { cwd, ...options });
    this.#session = made;
    Object.assign(this, readable(made));
    return this.getSessionFile();
  }
  setSessionFile(path) {
    call("sessions.close", { session: this.#session });
    this.#session = call("sessions.open", { path: String(path) });
    Object.assign(this, readable(this.#session));
  }
  get #place() {
    return { cwd: this.getCwd(), dir: this.isPersisted() ? this.getSessionDir() : undefined };
  }
  createBranchedSession(id) {
    return call("sessions.branched", { session: this.#session, id: String(id) }) ?? undefined;
  }
  getEntryCount() {
    return this.getEntries().length;
  }
  usesDefaultSessionDir() {
    return this.getSessionDir() === call("sessions.directory", { cwd: this.getCwd() });
  }
  /// Closes the session before the extension ends.
  close() {
    call("sessions.close", { session: this.#session });
  }
}

function listed(rows, onProgress) {
  const infos = rows.map((row) => ({
    ...row,
    name: row.name ?? undefined,
    parentSessionPath: row.parentSessionPath ?? undefined,
    created: new Date(row.created),
    modified: new Date(row.modified),
  }));
  onProgress?.(infos.length, infos.length, infos);
  return infos;
}

/// Reads the lines of a session file. Lines that are not JSON are left out.
export function parseSessionEntries(content) {
  const entries = [];
  for (const line of content.split("\n").filter((one) => one.trim() !== "")) {
    try {
      entries.push(JSON.parse(line));
    } catch {
      // As in pi, a broken line does not hide the others.
    }
  }
  return entries;
}

/// Brings entries of an older version up to date, in place.
export function migrateSessionEntries(entries) {
  const [header] = entries;
  if (header?.type !== "session" || (header.version ?? 1) >= CURRENT_SESSION_VERSION) return;
  const migrated = call("sessions.migrated", { entries });
  entries.splice(0, entries.length, { ...header, version: CURRENT_SESSION_VERSION }, ...migrated);
}

/// The value that names a position: nothing is the leaf, null the place before the first entry.
const leafOf = (id) => (id === null ? false : id);

export const buildSessionContext = (entries, leafId) => call("sessions.context", { entries, leaf: leafOf(leafId) });
export const buildSessionProjection = buildSessionContext;
export const sessionEntryToContextMessages = (entry) => call("sessions.context", { entries: [{ ...entry, parentId: null }] }).messages;

/// Returns the entries on the path to the leaf.
export function buildContextEntries(entries, leafId, byId = new Map(entries.map((entry) => [entry.id, entry]))) {
  if (leafId === null) return [];
  const path = [];
  const seen = new Set();
  const last = entries.filter((entry) => entry.type !== "session").at(-1);
  for (let entry = leafId === undefined ? last : byId.get(leafId); entry && !seen.has(entry.id); entry = byId.get(entry.parentId)) {
    seen.add(entry.id);
    path.unshift(entry);
  }
  return path;
}

export const getLatestCompactionEntry = (entries) => entries.findLast((entry) => entry.type === "compaction") ?? null;
