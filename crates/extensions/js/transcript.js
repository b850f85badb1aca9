// Conversations whose system prompt and tools are messages, as pi 1.5.0 passes them to functions that stream.

const isSystem = (message) => message.role === "system";

export const contentText = (content, separator = "\n") =>
  typeof content === "string" ? content : content.filter((block) => block.type === "text").map((block) => block.text).join(separator);

export function getSystemMessageText(message) {
  const sections = Object.values(message.sections ?? {}).filter((text) => text !== null);
  return [contentText(message.content), ...sections].filter((text) => text.length > 0).join("\n\n");
}

export function toToolDeclaration({ name, description, parameters, constrainedSampling }) {
  const declaration = { name, description, parameters: JSON.parse(JSON.stringify(parameters)) };
  return constrainedSampling === undefined ? declaration : { ...declaration, constrainedSampling };
}

export const declarationsEqual = (one, other) => JSON.stringify(toToolDeclaration(one)) === JSON.stringify(toToolDeclaration(other));

export function createInitialSystemMessage(systemPrompt, tools) {
  if (!systemPrompt && !tools?.length) return undefined;
  return { role: "system", content: systemPrompt ?? "", ...(tools?.length ? { toolsAdded: tools } : {}), timestamp: 0 };
}

export function normalizeContext({ systemPrompt, tools, messages }) {
  const first = createInitialSystemMessage(systemPrompt, tools);
  return { messages: first ? [first, ...messages] : messages };
}

export const getInitialSystemMessage = ([first]) => (first && isSystem(first) ? first : undefined);
export const withoutInitialSystemMessage = (messages) => (getInitialSystemMessage(messages) ? messages.slice(1) : messages);

export function getDeclaredTools(messages) {
  const tools = new Map();
  for (const message of messages.filter(isSystem)) for (const tool of message.toolsAdded ?? []) tools.set(tool.name, tool);
  return [...tools.values()];
}

export function getCurrentTools(messages) {
  const tools = new Map();
  for (const message of messages.filter(isSystem)) {
    for (const { name } of message.toolsRemoved ?? []) tools.delete(name);
    for (const tool of message.toolsAdded ?? []) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

/// Joins all system messages to one.
export function getCurrentSystemMessage(messages) {
  const all = messages.filter(isSystem);
  if (all.length === 0) return undefined;
  const sections = {};
  for (const message of all) {
    for (const [name, text] of Object.entries(message.sections ?? {})) {
      if (text === null) delete sections[name];
      else sections[name] = text;
    }
  }
  const tools = getCurrentTools(messages);
  return {
    role: "system",
    content: all.map((message) => contentText(message.content)).filter(Boolean).join("\n\n"),
    ...(Object.keys(sections).length > 0 ? { sections } : {}),
    ...(tools.length > 0 ? { toolsAdded: tools } : {}),
    timestamp: all[0].timestamp,
  };
}

export function getCurrentSystemPrompt(messages) {
  const message = getCurrentSystemMessage(messages);
  return message ? getSystemMessageText(message) : "";
}

export function collapseSystemMessages({ messages }) {
  const head = getCurrentSystemMessage(messages);
  const others = messages.filter((message) => !isSystem(message));
  return { messages: head ? [head, ...others] : others };
}

export const resolveTranscript = (context, supportsSystemMessages) => (supportsSystemMessages ? context : collapseSystemMessages(context));
export const resolveTranscriptTools = (context) => getCurrentTools(context.messages);

export function getToolStateChanges(previous, current) {
  const find = (tools, name) => tools.find((tool) => tool.name === name);
  return {
    toolsAdded: current
      .filter((tool) => !find(previous, tool.name) || !declarationsEqual(find(previous, tool.name), tool))
      .map(toToolDeclaration),
    toolsRemoved: previous.filter((tool) => !find(current, tool.name)).map(({ name }) => ({ name })),
  };
}

export const hasNonAdditiveToolChanges = (messages) => messages.slice(1).some((message) => isSystem(message) && message.toolsRemoved?.length > 0);

export function hasToolRedefinitions(messages) {
  const known = new Set();
  return messages.filter(isSystem).flatMap((message) => message.toolsAdded ?? []).some(({ name }) => known.has(name) || !known.add(name));
}

export const renderSystemMessageUpdate = (message) => `<system_update>\n${getSystemMessageText(message)}\n</system_update>`;

/// Takes a conversation of either form apart: `systemPrompt`, `tools` and `messages`.
export function plainContext(context) {
  const { messages } = context;
  if (!messages.some(isSystem)) return context;
  return {
    systemPrompt: [context.systemPrompt, getCurrentSystemPrompt(messages)].filter(Boolean).join("\n\n"),
    tools: [...(context.tools ?? []), ...getCurrentTools(messages)],
    messages: messages.filter((message) => !isSystem(message)),
  };
}
