// Skills and context files, as extensions find and list them.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { call } from "offshoot:native";

/// Reads the settings at the beginning of a Markdown file: `key: value`, lists, and blocks of text.
export function parseFrontmatter(content) {
  const found = /^---\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(content);
  if (!found) return { frontmatter: {}, body: content };
  const frontmatter = {};
  let [key, isBlock] = ["", false];
  for (const line of found[1].split(/\r?\n/)) {
    const pair = /^([\w-]+):\s*(.*)$/.exec(line);
    const item = /^\s+-\s+(.*)$/.exec(line) ?? /^-\s+(.*)$/.exec(line);
    if (pair) {
      key = pair[1];
      isBlock = /^[|>][-+]?$/.test(pair[2]);
      frontmatter[key] = isBlock ? "" : scalar(pair[2]);
    } else if (isBlock && /^\s/.test(line)) frontmatter[key] += (frontmatter[key] && "\n") + line.trim();
    else if (item && key) frontmatter[key] = [...(Array.isArray(frontmatter[key]) ? frontmatter[key] : []), scalar(item[1])];
  }
  return { frontmatter, body: content.slice(found[0].length).trim() };
}

function scalar(text) {
  const quoted = /^(["'])(.*)\1$/.exec(text);
  if (quoted) return quoted[2];
  if (/^\[.*\]$/.test(text)) return text.slice(1, -1).split(",").map((one) => scalar(one.trim())).filter((one) => one !== "");
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
}

export const stripFrontmatter = (content) => parseFrontmatter(content).body;

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

function skill(filePath, source, diagnostics) {
  const warn = (message) => void diagnostics.push({ type: "warning", message, path: filePath });
  try {
    const { frontmatter } = parseFrontmatter(readFileSync(filePath, "utf8"));
    const baseDir = dirname(filePath);
    const name = String(frontmatter.name ?? basename(baseDir));
    if (!NAME.test(name) || name.length > 64) warn(`the name "${name}" is not made of small letters, digits and single hyphens`);
    if (!frontmatter.description) return void warn("description is required");
    const sourceInfo = { path: filePath, source, scope: "temporary", origin: "top-level", baseDir };
    return {
      name, description: String(frontmatter.description), filePath, baseDir, source, sourceInfo,
      disableModelInvocation: frontmatter["disable-model-invocation"] === true,
    };
  } catch (error) {
    return void warn(error.message);
  }
}

/// Finds `SKILL.md` in a directory and below it, and Markdown files directly in it.
export function loadSkillsFromDir({ dir, source }, isRoot = true) {
  const [skills, diagnostics] = [[], []];
  if (!existsSync(dir)) return { skills, diagnostics };
  const add = (path) => {
    const found = skill(path, source, diagnostics);
    if (found) skills.push(found);
  };
  const entries = readdirSync(dir, { withFileTypes: true });
  if (entries.some((entry) => entry.name === "SKILL.md")) {
    add(join(dir, "SKILL.md"));
    return { skills, diagnostics };
  }
  for (const entry of entries.filter(({ name }) => !name.startsWith(".") && name !== "node_modules")) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) {
      const inside = loadSkillsFromDir({ dir: path, source }, false);
      skills.push(...inside.skills);
      diagnostics.push(...inside.diagnostics);
    } else if (isRoot && entry.name.endsWith(".md")) add(path);
  }
  return { skills, diagnostics };
}

/// Loads the skills of the user, of the project and of further paths. The first of a name counts.
export function loadSkills({ cwd = call("host.info").cwd, agentDir = call("host.info").configDir, skillPaths = [], includeDefaults = true } = {}) {
  const places = includeDefaults ? [[join(agentDir, "skills"), "user"], [join(cwd, ".offshoot", "skills"), "project"]] : [];
  const [skills, diagnostics] = [[], []];
  for (const [path, source] of [...places, ...skillPaths.map((one) => [one, "path"])]) {
    const isFile = path.endsWith(".md");
    const found = isFile ? { skills: [skill(path, source, diagnostics)].filter(Boolean), diagnostics: [] } : loadSkillsFromDir({ dir: path, source });
    diagnostics.push(...found.diagnostics);
    for (const one of found.skills) {
      if (!skills.some(({ name }) => name === one.name)) skills.push(one);
      else diagnostics.push({ type: "collision", message: `name "${one.name}" collision`, path: one.filePath });
    }
  }
  return { skills, diagnostics };
}

const escaped = (text) => text.replace(/[&<>"']/g, (char) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" }[char]};`);

/// Lists skills for a system prompt.
export function formatSkillsForPrompt(skills) {
  const listed = skills.filter((one) => !one.disableModelInvocation);
  if (listed.length === 0) return "";
  const items = listed.map(({ name, description, filePath }) =>
    ["  <skill>", `    <name>${escaped(name)}</name>`, `    <description>${escaped(description)}</description>`, `    <location>${escaped(filePath)}</location>`, "  </skill>"].join("\n"));
  const intro = "These skills describe how to do special tasks. Read the file of a skill when its description fits; paths in it are relative to its directory.";
  return `\n\n${intro}\n\n<available_skills>\n${items.join("\n")}\n</available_skills>`;
}

export function parseSkillBlock(text) {
  const found = /^<skill name="([^"]+)" location="([^"]+)">\n([\s\S]*?)\n<\/skill>(?:\n\n([\s\S]+))?$/.exec(text);
  return found ? { name: found[1], location: found[2], content: found[3], userMessage: found[4]?.trim() || undefined } : null;
}

/// Reads the context files from the root down to a directory, after that of the user.
export function loadProjectContextFiles({ cwd = call("host.info").cwd, agentDir = call("host.info").configDir } = {}) {
  const directories = [];
  for (let at = cwd; ; at = dirname(at)) {
    directories.unshift(at);
    if (dirname(at) === at) break;
  }
  const files = [];
  for (const directory of [agentDir, ...directories]) {
    const name = ["AGENTS.md", "CLAUDE.md"].find((one) => existsSync(join(directory, one)));
    const path = name && join(directory, name);
    if (path && !files.some((file) => file.path === path)) files.push({ path, content: readFileSync(path, "utf8") });
  }
  return files;
}
