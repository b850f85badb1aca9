// Exports of pi that offshoot does not offer. Using one throws the reason; the documentation lists them all.

/// Returns exports by any name. Each is a function, so that it can also be extended or made with `new`.
export function refused(reason) {
  return new Proxy({}, { get: (_, name) => refusal(String(name), reason) });
}

function refusal(name, reason) {
  function unavailable() {
    throw new Error(`${name} is not available in offshoot: ${reason}`);
  }
  return Object.defineProperties(unavailable, { name: { value: name }, refusal: { value: reason } });
}
