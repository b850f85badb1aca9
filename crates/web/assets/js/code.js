// Code: colours for what nearly all languages share. Comments, strings, numbers, words that mean something.

const HASH_COMMENTS = /^(py|python|sh|bash|zsh|shell|console|rb|ruby|yaml|yml|toml|makefile|dockerfile|r|pl|perl|ini|conf|nix|elixir|ex)$/;
const DASH_COMMENTS = /^(sql|lua|hs|haskell|elm|ada)$/;
const PLAIN = /^(text|txt|plain|md|markdown|log|output|csv|)$/;
const WORDS = new Set(("abstract as async await begin bool break case catch char class const continue crate def default defer del do done double dyn "
  + "elif else end enum esac except export extends extern false fi final finally float fn for foreach from func function global go if impl implements "
  + "import in include inline instanceof int interface is lambda let local long loop match mod module move mut namespace new nil none None not null "
  + "of operator or package pass private protected pub public raise ref return self Self short signed static struct super switch template then this throw "
  + "throws trait true True False try type typedef typeof union unless unsafe unsigned until use using var void when where while with yield SELECT FROM "
  + "WHERE INSERT UPDATE DELETE CREATE TABLE JOIN ON AND OR NOT NULL").split(" "));
const LONGEST_COLOURED = 60000;

function coloured(text, language) {
  const name = String(language).toLowerCase();
  if (PLAIN.test(name) || text.length > LONGEST_COLOURED) return [text];
  if (name === "diff" || name === "patch") return diffLines(text);
  const comment = HASH_COMMENTS.test(name) ? "#[^\\n]*"
    : DASH_COMMENTS.test(name) ? "--[^\\n]*"
      : name === "json" ? "(?!)" : "\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)";
  const pattern = new RegExp(`(${comment})|("(?:[^"\\\\\\n]|\\\\.)*"|\`(?:[^\`\\\\]|\\\\.)*\`|'(?:[^'\\\\\\n]|\\\\.)*')`
    + "|(\\b(?:0x[\\da-fA-F]+|\\d+(?:\\.\\d+)?)\\b)|([A-Za-z_][A-Za-z0-9_]*)(\\s*\\()?", "g");
  const pieces = [];
  let done = 0;
  const add = (kind, piece) => pieces.push(el("span", { class: kind }, piece));
  for (const match of text.matchAll(pattern)) {
    const [whole, isComment, isString, isNumber, word, call] = match;
    const kind = isComment ? "c-rem" : isString ? "c-str" : isNumber ? "c-num"
      : WORDS.has(word) ? "c-key" : call ? "c-call" : undefined;
    if (!kind) continue;
    const shown = call ? word : whole;
    pieces.push(text.slice(done, match.index));
    add(kind, shown);
    done = match.index + shown.length;
  }
  pieces.push(text.slice(done));
  return pieces;
}

function codeBlock(text, language) {
  const code = textOf(text).replace(/\n$/, "");
  return el("div", { class: "code" },
    el("div", { class: "code-bar" }, el("span", {}, textOf(language)), copyButton(() => code, "code")),
    el("pre", { tabindex: 0 }, el("code", {}, coloured(code, language))));
}

function diffLines(text) {
  return text.split("\n").map((line) => {
    const kind = /^\+/.test(line) ? "d-add" : /^-/.test(line) ? "d-del" : /^@@/.test(line) ? "d-at" : "d-same";
    return el("span", { class: `d-line ${kind}` }, `${line}\n`);
  });
}

function diffBlock(text) {
  return el("pre", { class: "diff", tabindex: 0 }, diffLines(textOf(text).replace(/\n$/, "")));
}

function languageOf(path) {
  const match = /\.([A-Za-z0-9]+)$/.exec(textOf(path));
  return match ? match[1].toLowerCase() : "";
}
