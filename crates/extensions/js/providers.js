// Providers that this extension registers: their services are asked by the program, or script answers for them.

import { call } from "offshoot:native";
import { normalizeContext } from "offshoot:transcript";

/// The configurations by name, for those that script answers for.
const registered = new Map();

export function registerProvider(name, config) {
  // The newer form is one object with everything in it.
  const [id, values] = typeof name === "object" ? [name.id, name] : [String(name), config ?? {}];
  const { streamSimple, models, oauth, apiKey, ...rest } = values;
  const own = typeof models === "function" ? models() : models;
  registered.set(id, { ...values, models: own });
  if (oauth && !apiKey) return refuse(id, "it signs in with OAuth, which extensions cannot; give it an `apiKey`");
  const known = { ...rest, apiKey, models: own ?? [] };
  call("host.registerProvider", { name: id, config: known, streams: typeof streamSimple === "function" && Boolean(own?.length) });
}

function refuse(name, reason) {
  call("host.report", { doing: "registerProvider", message: `the provider \`${name}\` is not used: ${reason}` });
}

export function unregisterProvider(name) {
  registered.delete(String(name));
  call("host.unregisterProvider", { name: String(name) });
}

export const registeredProviders = () => [...registered.keys()];
export const registeredConfig = (name) => registered.get(name);

/// Lets the function of a provider answer a request; its events go to the host.
export async function answerFor({ stream: id, provider, id: model, context, options }, signal) {
  const { models, streamSimple, apiKey, api, baseUrl, headers } = registered.get(provider);
  const found = models.find((one) => one.id === model);
  const whole = { cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, input: ["text"], ...found, provider, api: found.api ?? api, baseUrl: found.baseUrl ?? baseUrl };
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
  const events = await streamSimple(whole, { ...context, ...normalizeContext(context) }, { ...given, headers, signal, apiKey: suppliedKey(apiKey) });
  for await (const event of events) {
    const { partial, ...update } = event;
    // A block is sent as a whole only where it begins and ends.
    const isEdge = /_(start|end)$/.test(event.type);
    const block = isEdge ? partial?.content?.[event.contentIndex] : undefined;
    call("host.answerEvent", { stream: id, event: block ? { ...update, block } : update });
  }
  return null;
}

/// The key as far as the script has it: a literal, or a variable that it may read.
function suppliedKey(apiKey) {
  const name = /^\$\{?(\w+)\}?$/.exec(apiKey ?? "")?.[1] ?? (/^[A-Z][A-Z0-9_]*$/.test(apiKey ?? "") ? apiKey : undefined);
  return name ? process.env[name] : apiKey;
}
