// Shows results as text and as a table of Markdown.

/** The length of a reason in a document. */
const LONGEST = 160;

export function table(results) {
  const width = Math.max(...results.map((one) => `${one.name} ${one.version}`.length));
  return results.map((one) => `${`${one.name} ${one.version}`.padEnd(width)}  ${one.verdict.padEnd(8)}  ${one.reason}`.trimEnd()).join("\n");
}

export function summary(results) {
  const counts = {};
  for (const { verdict } of results) counts[verdict] = (counts[verdict] ?? 0) + 1;
  const words = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
  return `${results.length} packages: ${words.join(", ")}\n`;
}

export function markdown(results) {
  const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text);
  const cell = (text) => short(text.replace(/\s+/g, " ")).replaceAll("`", "").replaceAll("|", "\\|").replaceAll("<", "&lt;");
  const rows = results.map((one) => `| \`${one.name}\` ${one.version} | ${one.verdict} | ${cell(one.reason)} |\n`);
  return `${summary(results).trim()}.\n\n| package | here | difference |\n|---|---|---|\n${rows.join("")}`;
}
