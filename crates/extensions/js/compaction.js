// Summaries of conversations: when they are due, what they cover, and how a model makes them.

import { call } from "offshoot:native";
import { complete } from "offshoot:models";
import { sessionEntryToContextMessages } from "offshoot:sessions";

export const DEFAULT_COMPACTION_SETTINGS = Object.freeze({ enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 });

export const estimateTokens = (message) => call("host.estimateTokens", { messages: [message] });
export const serializeConversation = (messages) => call("host.serializeConversation", { messages });
export const calculateContextTokens = (usage) => usage.totalTokens || usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
export const shouldCompact = (tokens, window, { enabled, reserveTokens }) => enabled && tokens > window - reserveTokens;

/// Returns the usage of the last answer that was not broken off.
export function getLastAssistantUsage(entries) {
  const isAnswer = ({ type, message }) => type === "message" && message.role === "assistant" && message.usage && !["aborted", "error"].includes(message.stopReason);
  return entries.findLast(isAnswer)?.message.usage;
}

const messageOf = (entry) => (entry.type === "message" ? entry.message : undefined);
const isPrompt = (entry) => ["user", "bashExecution"].includes(messageOf(entry)?.role) || ["branch_summary", "custom_message"].includes(entry.type);

export function findTurnStartIndex(entries, index, start) {
  for (let at = index; at >= start; at--) if (isPrompt(entries[at])) return at;
  return -1;
}

/// Finds where the part begins that is kept as it is: not more tokens than wanted, and never at the result of a tool.
export function findCutPoint(entries, start, end, keepRecentTokens) {
  const isCut = (entry) => isPrompt(entry) || messageOf(entry)?.role === "assistant";
  const cuts = [];
  for (let at = start; at < end; at++) if (isCut(entries[at])) cuts.push(at);
  if (cuts.length === 0) return { firstKeptEntryIndex: start, turnStartIndex: -1, isSplitTurn: false };
  let [cut, tokens] = [cuts[0], 0];
  for (let at = end - 1; at >= start; at--) {
    const message = messageOf(entries[at]);
    if (!message) continue;
    tokens += estimateTokens(message);
    if (tokens >= keepRecentTokens) {
      cut = cuts.find((one) => one >= at) ?? cut;
      break;
    }
  }
  while (cut > start && !["compaction", "message"].includes(entries[cut - 1].type)) cut -= 1;
  const startsTurn = isPrompt(entries[cut]);
  const turnStartIndex = startsTurn ? -1 : findTurnStartIndex(entries, cut, start);
  return { firstKeptEntryIndex: cut, turnStartIndex, isSplitTurn: !startsTurn && turnStartIndex !== -1 };
}

/// Collects what a summary of a branch would cover: the entries from the old leaf up to the common ancestor.
export function collectEntriesForBranchSummary(session, oldLeafId, targetId) {
  if (!oldLeafId) return { entries: [], commonAncestorId: null };
  const target = new Set(session.getBranch(targetId).map((entry) => entry.id));
  const path = session.getBranch(oldLeafId);
  const shared = path.findLastIndex((entry) => target.has(entry.id));
  return { entries: path.slice(shared + 1), commonAncestorId: shared < 0 ? null : path[shared].id };
}

/// Takes as many messages as fit, the latest first, and the files that their calls name.
export function prepareBranchEntries(entries, tokenBudget = 0) {
  const fileOps = { read: new Set(), written: new Set(), edited: new Set() };
  const kinds = { read: fileOps.read, write: fileOps.written, edit: fileOps.edited };
  const messages = [];
  let totalTokens = 0;
  for (const entry of [...entries].reverse()) {
    for (const message of sessionEntryToContextMessages(entry).filter((one) => one.role !== "toolResult")) {
      for (const { type, name, arguments: args } of Array.isArray(message.content) ? message.content : []) {
        if (type === "toolCall" && args?.path) kinds[name]?.add(args.path);
      }
      const tokens = estimateTokens(message);
      if (tokenBudget > 0 && totalTokens + tokens > tokenBudget) return { messages, fileOps, totalTokens };
      messages.unshift(message);
      totalTokens += tokens;
    }
  }
  return { messages, fileOps, totalTokens };
}

/// Asks a model for a text, with the prompts that the agent itself uses.
async function summarized(kind, messages, model, signal, values) {
  const asked = call("host.summaryPrompt", { kind, messages, ...values });
  const context = { systemPrompt: asked.system, messages: [{ role: "user", content: asked.prompt, timestamp: Date.now() }], tools: [] };
  const answer = await complete(model, context, { signal, maxTokens: values.maxTokens, reasoning: values.reasoning });
  if (answer.stopReason === "error" || answer.stopReason === "aborted") throw new Error(`Summarization failed: ${answer.errorMessage ?? answer.stopReason}`);
  return { text: answer.content.filter((block) => block.type === "text").map((block) => block.text).join("\n"), usage: answer.usage };
}

/// The fourth and fifth arguments are a key and headers, which the program has itself.
export function generateSummaryWithUsage(messages, model, _reserve, _key, _headers, signal, customInstructions, previousSummary, reasoning) {
  return summarized("history", messages, model, signal, { customInstructions, previousSummary, reasoning });
}

export const generateSummary = async (...args) => (await generateSummaryWithUsage(...args)).text;

export async function generateBranchSummary(entries, { model, signal, customInstructions, replaceInstructions, reserveTokens = 16_384 }) {
  const { messages, fileOps } = prepareBranchEntries(entries, (model.contextWindow ?? 128_000) - reserveTokens);
  if (messages.length === 0) return { summary: "No content to summarize" };
  try {
    const { text, usage } = await summarized("branch", messages, model, signal, { customInstructions, replaceInstructions });
    const modified = new Set([...fileOps.written, ...fileOps.edited]);
    const readFiles = [...fileOps.read].filter((path) => !modified.has(path)).sort();
    return { summary: text, usage, readFiles, modifiedFiles: [...modified].sort() };
  } catch (error) {
    return signal?.aborted ? { aborted: true } : { error: error.message };
  }
}

/// Makes the summary that a preparation asks for.
export async function compact(preparation, model, key, headers, customInstructions, signal, reasoning) {
  const { messagesToSummarize, turnPrefixMessages, isSplitTurn, firstKeptEntryId, tokensBefore, previousSummary } = preparation;
  const parts = [];
  if (messagesToSummarize.length > 0 || !isSplitTurn) {
    parts.push(await generateSummaryWithUsage(messagesToSummarize, model, 0, key, headers, signal, customInstructions, previousSummary, reasoning));
  }
  if (isSplitTurn && turnPrefixMessages.length > 0) parts.push(await summarized("prefix", turnPrefixMessages, model, signal, { reasoning }));
  return { summary: parts.map((part) => part.text).join("\n\n---\n\n"), firstKeptEntryId, tokensBefore, usage: parts[0].usage };
}
