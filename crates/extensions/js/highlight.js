// Source code with colours: comments, texts, numbers and words of the language.

import { theme } from "offshoot:theme";

const LANGUAGES = {
  ts: "typescript", tsx: "typescript", mts: "typescript", cts: "typescript", js: "javascript", jsx: "javascript", mjs: "javascript",
  cjs: "javascript", py: "python", rb: "ruby", rs: "rust", go: "go", java: "java", kt: "kotlin", swift: "swift", c: "c", h: "c",
  cpp: "cpp", cc: "cpp", cxx: "cpp", hpp: "cpp", cs: "csharp", php: "php", sh: "bash", bash: "bash", zsh: "bash", fish: "fish",
  ps1: "powershell", sql: "sql", html: "html", htm: "html", css: "css", scss: "scss", sass: "sass", less: "less", json: "json",
  yaml: "yaml", yml: "yaml", toml: "toml", xml: "xml", md: "markdown", markdown: "markdown", dockerfile: "dockerfile",
  makefile: "makefile", cmake: "cmake", lua: "lua", perl: "perl", r: "r", scala: "scala", clj: "clojure", ex: "elixir",
  exs: "elixir", erl: "erlang", hs: "haskell", ml: "ocaml", vim: "vim", graphql: "graphql", proto: "protobuf", tf: "hcl", hcl: "hcl",
};

export const getLanguageFromPath = (path) => LANGUAGES[path.split(".").pop()?.toLowerCase()];

const WORDS = new Set(
  "abstract and as async await begin bool boolean break case catch char class const continue crate def default defer del do double elif else elsif end enum except export extends extern false final finally float fn for foreach from func function go if impl implements import in instanceof int interface is lambda let local long loop match mod module move mut namespace new nil none not null of or package pass private protected pub public raise ref return select self static string struct super switch then this throw throws trait true try type typeof undefined union unless unsafe until use using var void where while with yield"
    .split(" "),
);

/// Which marks begin a comment.
const HASHED = new Set(["python", "ruby", "bash", "fish", "yaml", "toml", "perl", "r", "elixir", "makefile", "dockerfile", "cmake", "powershell", "hcl"]);
const DASHED = new Set(["sql", "lua", "haskell"]);

const TOKEN = {
  slashes: /(\/\/.*|\/\*[^]*?(?:\*\/|$))|("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\[^])*`?)|\b(\d[\w.]*)|([A-Za-z_$][\w$]*)/g,
  hash: /(#.*)|("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|\b(\d[\w.]*)|([A-Za-z_$][\w$]*)/g,
  dashes: /(--.*)|("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|\b(\d[\w.]*)|([A-Za-z_$][\w$]*)/g,
};

/// Returns the lines of code with colours. Code of an unknown language has the colour of code blocks.
export function highlightCode(code, language) {
  const name = LANGUAGES[language] ?? language;
  if (!name || !Object.values(LANGUAGES).includes(name)) return code.split("\n").map((line) => theme.fg("mdCodeBlock", line));
  const token = HASHED.has(name) ? TOKEN.hash : DASHED.has(name) ? TOKEN.dashes : TOKEN.slashes;
  const colored = code.replace(token, (found, comment, text, number, word) => {
    const color = comment ? "syntaxComment" : text ? "syntaxString" : number ? "syntaxNumber" : WORDS.has(word) ? "syntaxKeyword" : undefined;
    return color ? found.split("\n").map((line) => theme.fg(color, line)).join("\n") : found;
  });
  return colored.split("\n");
}
