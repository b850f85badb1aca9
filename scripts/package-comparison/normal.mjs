// Takes out of a value all that differs from run to run: places, ports, ids, times, durations, colours.

export function normal(value, places) {
  if (typeof value === "string") return text(value, places);
  if (Array.isArray(value)) return value.map((one) => normal(one, places));
  if (!value || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, normal(one, places)]));
}

function text(value, places) {
  let out = value.replace(/\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(\u0007|\u001b\\)/g, "");
  for (const [name, place] of Object.entries(places).sort(([, a], [, b]) => String(b).length - String(a).length)) {
    out = out.replaceAll(String(place), `<${name}>`);
  }
  return out
    .replace(/[^\s`'"(]*\/node_modules\//g, "<modules>/")
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, "<time>")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "<id>")
    .replace(/\b(?=[a-f]*\d)[0-9a-f]{7,64}\b/gi, "<id>")
    .replace(/\d+-<id>/g, "<pid>-<id>")
    .replace(/\b\d+(\.\d+)?\s?(ms|s|µs|seconds?)\b/g, "<duration>")
    .replace(/\b\d{2}:\d{2}(:\d{2})?\b/g, "<time>");
}
