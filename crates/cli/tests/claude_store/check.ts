// Checks the store in TypeScript: the contracts that the SDK checks in Python, and what the store in Python left.
//
// Usage: check.ts PROGRAM PLACE ENTRIES; PLACE is where check.py left a transcript.
import assert from "node:assert/strict";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionKey, SessionStoreEntry, SessionSummaryEntry } from "@anthropic-ai/claude-agent-sdk";
import { OffshootSessionStore, OffshootStoreError } from "../../../../clients/claude-session-store/offshoot-session-store.ts";

const [program = "", place = "", entriesFile = ""] = process.argv.slice(2);
const isDatabase = place.startsWith("postgres://");
const key: SessionKey = { projectKey: "proj", sessionId: "sess" };
const e = (fields: Record<string, unknown>): SessionStoreEntry => ({ type: "x", ...fields });

/** Keeps the last title, as the SDK does; the rest of a summary is of no importance to a store. */
function fold(_: undefined, { sessionId }: SessionKey, entries: SessionStoreEntry[]): SessionSummaryEntry {
  const titles = entries.map((entry) => entry["customTitle"]).filter((title) => title !== undefined);
  return { sessionId, mtime: 0, data: { customTitle: titles.at(-1) } };
}

function open(at: string) {
  const store = new OffshootSessionStore(at, { program: [program], fold });
  assert(store.listSessionSummaries);
  return Object.assign(store, { listSessionSummaries: store.listSessionSummaries });
}

async function fresh() {
  if (!isDatabase) return open(await mkdtemp(join(tmpdir(), "claude-store-")));
  const store = open(place);
  for (const projectKey of ["proj", "other", "A", "B", "other-proj"]) {
    for (const { sessionId } of await store.listSessions(projectKey)) await store.delete({ projectKey, sessionId });
  }
  return store;
}

const sub = (name: string): SessionKey => ({ ...key, subpath: `subagents/${name}` });
const contracts: Record<string, () => Promise<void>> = {
  async "load returns the entries of an append in order"() {
    const store = await fresh();
    await store.append(key, [e({ uuid: "b", n: 1 }), e({ uuid: "a", n: 2 })]);
    assert.deepEqual(await store.load(key), [e({ uuid: "b", n: 1 }), e({ uuid: "a", n: 2 })]);
  },
  async "a key that was never written is null"() {
    const store = await fresh();
    assert.equal(await store.load({ projectKey: "proj", sessionId: "nope" }), null);
    await store.append(key, [e({ n: 1 })]);
    assert.equal(await store.load(sub("nope")), null);
  },
  async "appends keep the order of their calls, also without waiting"() {
    const store = await fresh();
    const numbers = [...Array(6).keys()];
    await Promise.all(numbers.map((n) => store.append(key, [e({ uuid: `${9 - n}`, n })])));
    assert.deepEqual((await store.load(key))?.map((entry) => entry["n"]), numbers);
  },
  async "an append of nothing does nothing"() {
    const store = await fresh();
    await store.append(key, []);
    assert.equal(await store.load(key), null);
    await store.append(key, [e({ n: 1 })]);
    await store.append(key, []);
    assert.deepEqual(await store.load(key), [e({ n: 1 })]);
  },
  async "transcripts of sub-agents are separate"() {
    const store = await fresh();
    await store.append(key, [e({ uuid: "m" })]);
    await store.append(sub("agent-1"), [e({ uuid: "s" })]);
    assert.deepEqual(await store.load(key), [e({ uuid: "m" })]);
    assert.deepEqual(await store.load(sub("agent-1")), [e({ uuid: "s" })]);
  },
  async "projects are separate"() {
    const store = await fresh();
    for (const projectKey of ["A", "B"]) await store.append({ projectKey, sessionId: "s1" }, [e({ from: projectKey })]);
    for (const projectKey of ["A", "B"]) {
      assert.deepEqual(await store.load({ projectKey, sessionId: "s1" }), [e({ from: projectKey })]);
      assert.equal((await store.listSessions(projectKey)).length, 1);
    }
  },
  async "the list has the sessions of a project with milliseconds"() {
    const store = await fresh();
    await store.append({ projectKey: "proj", sessionId: "a" }, [e({})]);
    await store.append({ projectKey: "proj", sessionId: "b" }, [e({})]);
    await store.append({ projectKey: "other", sessionId: "c" }, [e({})]);
    const sessions = await store.listSessions("proj");
    assert.deepEqual(sessions.map(({ sessionId }) => sessionId).sort(), ["a", "b"]);
    assert(sessions.every(({ mtime }) => Number.isInteger(mtime) && Math.abs(mtime - Date.now()) < 3_600_000));
    assert.deepEqual(await store.listSessions("never"), []);
  },
  async "the list leaves out sub-agents"() {
    const store = await fresh();
    await store.append(key, [e({})]);
    await store.append(sub("agent-1"), [e({})]);
    assert.deepEqual((await store.listSessions("proj")).map(({ sessionId }) => sessionId), ["sess"]);
  },
  async "a deleted session is gone, and may be written again"() {
    const store = await fresh();
    await store.delete({ projectKey: "proj", sessionId: "never" });
    await store.append(key, [e({ uuid: "a" })]);
    await open(isDatabase ? place : store["place"]).delete(key);
    assert.equal(await store.load(key), null);
    await store.append(key, [e({ uuid: "a" })]);
    assert.deepEqual(await store.load(key), [e({ uuid: "a" })]);
  },
  async "deleting a session deletes its sub-agents, and nothing else"() {
    const store = await fresh();
    const others = [{ ...key, sessionId: "sess2" }, { ...key, projectKey: "other-proj" }];
    for (const one of [key, sub("agent-1"), sub("agent-2"), ...others]) await store.append(one, [e({})]);
    await store.delete(key);
    for (const one of [key, sub("agent-1"), sub("agent-2")]) assert.equal(await store.load(one), null);
    for (const one of others) assert.equal((await store.load(one))?.length, 1);
    assert.deepEqual(await store.listSubkeys(key), []);
    assert(!(await store.listSessions("proj")).some(({ sessionId }) => sessionId === "sess"));
  },
  async "deleting a sub-agent deletes only that one"() {
    const store = await fresh();
    for (const one of [key, sub("agent-1"), sub("agent-2")]) await store.append(one, [e({})]);
    await store.delete(sub("agent-1"));
    assert.equal(await store.load(sub("agent-1")), null);
    assert.equal((await store.load(key))?.length, 1);
    assert.deepEqual(await store.listSubkeys(key), ["subagents/agent-2"]);
  },
  async "sub-agents of a session are listed"() {
    const store = await fresh();
    for (const one of [key, sub("agent-1"), sub("agent-2")]) await store.append(one, [e({})]);
    await store.append({ projectKey: "proj", sessionId: "other", subpath: "subagents/agent-x" }, [e({})]);
    assert.deepEqual((await store.listSubkeys(key)).sort(), ["subagents/agent-1", "subagents/agent-2"]);
  },
  async "the list of sub-agents leaves out the session"() {
    const store = await fresh();
    await store.append(key, [e({})]);
    assert.deepEqual(await store.listSubkeys(key), []);
    assert.deepEqual(await store.listSubkeys({ projectKey: "proj", sessionId: "never" }), []);
  },
  async "summaries follow the session"() {
    const store = await fresh();
    await store.append(key, [e({ customTitle: "first" }), e({})]);
    for (const title of ["second", "third"]) {
      await store.append(key, [e({ customTitle: title })]);
      await store.append(sub("agent-1"), [e({ customTitle: "sub" })]);
      const [listed] = await store.listSessions("proj");
      for (let round = 0; round < 2; round += 1) {
        const expected = [{ sessionId: "sess", mtime: listed?.mtime, data: { customTitle: title } }];
        assert.deepEqual(await store.listSessionSummaries("proj"), expected);
      }
    }
    assert.deepEqual(await store.listSessionSummaries("never"), []);
    await store.delete(key);
    assert.deepEqual(await store.listSessionSummaries("proj"), []);
  },
  async "entries with a uuid are stored once, others each time"() {
    const store = await fresh();
    const batch = [e({ uuid: "a" }), e({ n: 1 }), e({ uuid: "a" }), e({ uuid: "b" })];
    await store.append(key, batch);
    await store.append(key, batch);
    await open(store["place"]).append(key, batch);
    const once = [e({ uuid: "a" }), e({ n: 1 }), e({ uuid: "b" })];
    assert.deepEqual(await store.load(key), [...once, e({ n: 1 }), e({ n: 1 })]);
  },
  async "what cannot be used is an error"() {
    const store = await fresh();
    const message = (text: string) => (error: unknown) => error instanceof OffshootStoreError && error.message.includes(text);
    await assert.rejects(store.load({ ...key, subpath: "" }), message("a part is empty"));
    await assert.rejects(store.load({ ...key, sessionId: "s".repeat(300) }), message("more than 240 bytes"));
    const broken = new OffshootSessionStore(store["place"], { program: ["/none/offshoot"] });
    assert.equal(broken.listSessionSummaries, undefined);
    await assert.rejects(broken.append(key, [e({})]), message("/none/offshoot"));
    if (isDatabase) return;
    await store.append(key, [e({ n: 1 }), e({ n: 2 }), e({ n: 3 })]);
    const path = join(store["place"], "proj.sess.jsonl");
    const text = await readFile(path, "utf8");
    const lines = text.split("\n");
    const damaged = [
      ["line 3", text.replace('"n":2', '"n":')],
      ["before line 3 is missing", lines.toSpliced(2, 1).join("\n")],
      ["line 1", ""],
      ["line 1", lines.slice(1).join("\n")],
    ];
    for (const [reason = "", content = ""] of damaged) {
      await writeFile(path, content);
      await assert.rejects(store.load(key), message(reason));
    }
    await writeFile(path, `${text}{"type":"cus`);
    assert.equal((await store.load(key))?.length, 3);
  },
};

// First what Python left: the contracts that follow empty a database.
const entries: SessionStoreEntry[] = JSON.parse(await readFile(entriesFile, "utf8"));
const left = { projectKey: "-Users-Ann/p", sessionId: "S1" };
const store = open(place);
assert.deepEqual(await store.load(left), entries);
assert.deepEqual((await store.listSessions(left.projectKey)).map(({ sessionId }) => sessionId), ["S1"]);
assert.deepEqual(await store.listSubkeys(left), ["subagents/agent-1"]);
assert.equal((await store.listSessionSummaries(left.projectKey)).length, 1);
await store.append(left, [...entries, e({ uuid: "more" })]);
const expected = [...entries, ...entries.filter((entry) => !entry.uuid), e({ uuid: "more" })];
assert.deepEqual(await store.load(left), expected);

for (const [name, check] of Object.entries(contracts)) {
  try {
    await check();
  } catch (error) {
    console.error(`not true: ${name}`);
    throw error;
  }
}
console.log("all contracts hold");
