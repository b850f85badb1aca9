// Compares the records of one package: two of real pi and one of ours.

/** Returns the verdict (`equal`, `partly`, `no`, or `unusable` if pi does not load the package) and the reasons. */
export function compare(first, again, ours) {
  // A slow machine may stop one of the two runs.
  const theirs = first.loads ? first : again;
  const counts = {
    commands: theirs.commands.length, tools: own(theirs).length, uses: Object.keys(theirs.uses).length,
    oursCommands: ours.commands.length, oursTools: own(ours).length,
  };
  if (!theirs.loads) return { verdict: "unusable", reason: `pi: ${theirs.errors[0] ?? "no answer"}`, counts };
  const second = again.loads ? again : theirs;
  if (!ours.loads) return { verdict: "no", reason: cause(ours), counts };
  const missing = [
    ...absent("command", names(theirs.commands), names(ours.commands), names(second.commands)),
    ...absent("tool", names(own(theirs)), names(own(ours)), names(own(second))),
    ...absent("flag", theirs.flags, ours.flags),
    ...absent("key", theirs.shortcuts, ours.shortcuts),
  ];
  const more = [
    ...absent("command", names(ours.commands), names(theirs.commands)),
    ...absent("tool", names(own(ours)), names(own(theirs))),
    ...absent("flag", ours.flags, theirs.flags),
    ...absent("key", ours.shortcuts, theirs.shortcuts),
  ].map((text) => text.replace("missing", "only in ours:"));
  const uses = Object.keys(theirs.uses).filter((name) => name in ours.uses)
    .map((name) => difference(name, theirs.uses[name], second.uses[name], ours.uses[name])).filter(Boolean);
  const reasons = [...missing, ...more, ...uses];
  const failed = ours.errors.filter((error) => !theirs.errors.includes(error));
  if (failed.length) reasons.unshift(firstLine(failed[0]));
  if (!reasons.length) return { verdict: "equal", reason: "", counts };
  return { verdict: "partly", reason: reasons.slice(0, 4).join("; "), reasons, counts };
}

const builtIn = new Set(["read", "write", "edit", "bash", "grep", "find", "ls", "powershell"]);
const own = (record) => record.tools.filter((tool) => !builtIn.has(tool.name));
const names = (list) => list.map((one) => one.name);

function absent(kind, wanted, present, again = wanted) {
  return wanted.filter((name) => !present.includes(name) && again.includes(name)).map((name) => `missing ${kind} ${name}`);
}

/** Compares a use; if pi's own two runs differ, only whether it succeeded. */
function difference(name, theirs, again, ours) {
  const isSteady = JSON.stringify(theirs) === JSON.stringify(again);
  const form = isSteady ? JSON.stringify : success;
  if (form(theirs) === form(ours)) return "";
  return `${name}: pi ${brief(theirs)}, ours ${brief(ours)}`;
}

function success(use) {
  const results = use?.result ?? [];
  return JSON.stringify([Boolean(use?.error), Boolean(use?.errors), results.map?.((one) => Boolean(one.isError))]);
}

function brief(use) {
  if (!use) return "nothing";
  const text = use.error ?? use.errors?.[0] ?? JSON.stringify(use.result);
  return `\`${firstLine(text).slice(0, 160)}\``;
}

function cause(record) {
  const text = record.errors[0] || record.output || "no answer";
  return firstLine(text).slice(0, 300);
}

const firstLine = (text) => String(text).trim().split("\n")[0];
