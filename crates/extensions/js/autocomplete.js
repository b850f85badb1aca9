// Completion of what is typed in an editor: commands and files.

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fuzzyFilter } from "offshoot:fuzzy";

/// The most files that are offered.
const MOST = 50;

/// Completes `/commands` at the start of a line, and paths anywhere.
export class CombinedAutocompleteProvider {
  triggerCharacters = ["@"];

  constructor(commands = [], basePath = "") {
    Object.assign(this, { commands, basePath });
  }

  async getSuggestions(lines, cursorLine, cursorCol, options) {
    const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
    if (before.startsWith("/") && !options?.force) return this.commandSuggestions(before);
    const prefix = /[^\s"'=]*$/.exec(before)[0];
    if (!prefix.startsWith("@") && !prefix.includes("/") && !options?.force) return null;
    return found(this.files(prefix), prefix);
  }

  async commandSuggestions(before) {
    const space = before.indexOf(" ");
    if (space < 0) {
      const named = this.commands.map((one) => ({ ...one, name: one.name ?? one.value }));
      const fitting = fuzzyFilter(named, before.slice(1), (one) => one.name);
      return found(fitting.map(({ name, label, description }) => ({ value: name, label: label ?? name, description })), before);
    }
    const command = this.commands.find((one) => (one.name ?? one.value) === before.slice(1, space));
    const prefix = before.slice(space + 1);
    return found((await command?.getArgumentCompletions?.(prefix)) ?? [], prefix);
  }

  files(prefix) {
    const mark = prefix.startsWith("@") ? "@" : "";
    const typed = prefix.slice(mark.length);
    const folder = typed.endsWith("/") ? typed : typed.includes("/") ? `${dirname(typed)}/` : "";
    const start = typed.slice(folder === "./" && !typed.startsWith("./") ? 0 : folder.length).toLowerCase();
    let entries;
    try {
      entries = readdirSync(join(this.basePath, folder), { withFileTypes: true });
    } catch {
      return [];
    }
    const fitting = entries.filter((one) => one.name !== ".git" && one.name.toLowerCase().startsWith(start)).slice(0, MOST);
    return fitting.map((one) => {
      const name = one.isDirectory() ? `${one.name}/` : one.name;
      return { value: mark + folder + name, label: name };
    });
  }

  applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
    const line = lines[cursorLine] ?? "";
    const before = line.slice(0, cursorCol - prefix.length);
    const isCommand = prefix.startsWith("/") && before === "" && !item.value.startsWith("/");
    const text = isCommand ? `/${item.value} ` : item.value.endsWith("/") ? item.value : prefix.startsWith("@") ? `${item.value} ` : item.value;
    const changed = [...lines];
    changed[cursorLine] = before + text + line.slice(cursorCol);
    return { lines: changed, cursorLine, cursorCol: before.length + text.length };
  }

  shouldTriggerFileCompletion(lines, cursorLine, cursorCol) {
    const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
    return !before.startsWith("/") || before.includes(" ");
  }
}

const found = (items, prefix) => (items.length > 0 ? { items, prefix } : null);
