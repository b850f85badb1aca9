// The session as extensions see it. Nothing is kept here: every question goes to the session, so that what was just
// appended is there already.

import { call } from "offshoot:native";

function facts() {
  return call("session.facts");
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

export const sessionManager = Object.freeze({
  getCwd: () => facts().cwd ?? call("host.info").cwd,
  getSessionDir: () => facts().dir ?? "",
  getSessionId: () => facts().id,
  getSessionFile: () => facts().file ?? undefined,
  getSessionName: () => facts().name ?? undefined,
  getHeader: () => facts().header,
  isPersisted: () => facts().file !== null,
  getLeafId: () => call("session.leafId"),
  getLeafUuid: () => call("session.leafId"),
  getLeafEntry: () => call("session.leafEntry") ?? undefined,
  getEntry: (id) => call("session.entry", { id: String(id) }) ?? undefined,
  getEntries: () => call("session.entries"),
  getBranch: (from) => call("session.path", from === undefined ? {} : { from: String(from) }),
  getPath: (from) => call("session.path", from === undefined ? {} : { from: String(from) }),
  getChildren: (id) => call("session.entries").filter((entry) => entry.parentId === id),
  getLabel: (id) => call("session.label", { id: String(id) }) ?? undefined,
  getTree: () => nested(call("session.entries"), call("session.labels")),
  buildSessionContext: () => call("session.context"),
  buildSessionProjection: () => call("session.context"),
  buildContextEntries: () => call("session.path", {}),
  // Older dialects append through the session manager.
  appendCustomEntry: (customType, data) => call("session.appendCustom", { customType, data }),
  appendCustomMessageEntry: (customType, content, display, details) =>
    call("session.appendMessage", { customType, content, display: Boolean(display), details }),
  appendLabelChange: (id, label) => call("host.setLabel", { id, label: label ?? null }),
  appendSessionInfo: (name) => call("host.setSessionName", { name }),
});
