// The session as extensions see it. Nothing is kept here: every question goes to the session, so that what was just
// appended is there already.

import { call } from "offshoot:native";

/// Gives entries their older names, which are not copied or printed.
const OLDER_NAMES = Object.defineProperties({}, {
  uuid: { get() { return this.id; } },
  parentUuid: { get() { return this.parentId; } },
  firstKeptEntryUuid: { get() { return this.firstKeptEntryId; } },
});

function entry(found) {
  return found ? Object.setPrototypeOf(found, OLDER_NAMES) : undefined;
}

function entries(found) {
  for (const one of found) entry(one);
  return found;
}

/// Appends an entry that is spelled out. The session gives it its id, its parent and its time.
function saveEntry({ id, parentId, uuid, parentUuid, timestamp, ...draft }, parent) {
  const { type, customType, targetId, label } = draft;
  if (type === "label") return call("host.setLabel", { id: targetId, label: label ?? null });
  // What belongs to extensions may be appended at any time.
  if (type === "custom" && parent === undefined) return call("session.appendCustom", { customType, data: draft.data });
  if (type === "custom_message" && parent === undefined) {
    return call("session.appendMessage", { ...draft, display: Boolean(draft.display) });
  }
  return call("session.append", { draft, parent: parent === undefined ? null : String(parent) });
}

/// Puts entries into a tree; children stand in the order of their times, orphans are roots.
function nested(entries, labels) {
  const nodes = new Map();
  for (const entry of entries) {
    const label = labels[entry.id];
    const node = { entry, children: [] };
    if (label) Object.assign(node, { label: label.text, labelTimestamp: label.time });
    nodes.set(entry.id, node);
  }
  const roots = [];
  for (const node of nodes.values()) {
    const parent = node.entry.parentId ? nodes.get(node.entry.parentId) : undefined;
    if (parent && parent !== node) parent.children.push(node);
    else roots.push(node);
  }
  const byTime = (a, b) => Date.parse(a.entry.timestamp) - Date.parse(b.entry.timestamp);
  for (const node of nodes.values()) node.children.sort(byTime);
  return roots;
}

/// What can be asked of a session: of the agent's, or of one that the extension opened, by its number.
export function readable(session) {
  const ask = (name, values) => call(`session.${name}`, session === undefined ? values : { ...values, session });
  const facts = () => ask("facts");
  const path = (from) => entries(ask("path", from === undefined ? {} : { from: String(from) }));
  return {
    getCwd: () => facts().cwd ?? call("host.info").cwd,
    getSessionDir: () => facts().dir ?? "",
    getSessionId: () => facts().id,
    getSessionFile: () => facts().file ?? undefined,
    getSessionName: () => facts().name ?? undefined,
    getHeader: () => facts().header,
    isPersisted: () => facts().file !== null,
    getLeafId: () => ask("leafId"),
    getLeafEntry: () => entry(ask("leafEntry")),
    getEntry: (id) => entry(ask("entry", { id: String(id) })),
    getEntries: () => entries(ask("entries")),
    getBranch: path,
    getChildren: (id) => entries(ask("entries").filter((one) => one.parentId === id)),
    getLabel: (id) => ask("label", { id: String(id) }) ?? undefined,
    getTree: () => nested(entries(ask("entries")), ask("labels")),
    buildSessionContext: () => ask("context"),
    buildSessionProjection: () => ask("context"),
    buildContextEntries: () => path(),
    branch: (id) => ask("branch", { id: String(id) }),
    resetLeaf: () => void ask("branch", { id: null }),
    branchWithSummary: (id, summary, details) =>
      ask("branchWithSummary", { id: id === null ? null : String(id), summary: String(summary), details }),
  };
}

const own = readable();

export const sessionManager = Object.freeze({
  ...own,
  // Older dialects have other names, and append through the session manager. The leaf moves only while no turn is running.
  getLeafUuid: own.getLeafId,
  getCurrentLeaf: own.getLeafEntry,
  getPath: own.getBranch,
  appendCustomEntry: (customType, data) => call("session.appendCustom", { customType, data }),
  appendCustomMessageEntry: (customType, content, display, details) =>
    call("session.appendMessage", { customType, content, display: Boolean(display), details }),
  appendLabelChange: (id, label) => call("host.setLabel", { id, label: label ?? null }),
  appendSessionInfo: (name) => call("host.setSessionName", { name }),
  appendMessage: (message) => saveEntry({ type: "message", message }),
  saveMessage: (message, parent) => saveEntry({ type: "message", message }, parent),
  saveCompaction: (compaction) => saveEntry({ ...compaction, type: "compaction" }),
  saveEntry,
});
