//! The words of the made-up conversations: pools of lines, escaped once and then only copied.
//!
//! Copying ready JSON is what makes a gigabyte a matter of seconds. Knows nothing of entries.

use std::io::Write;

use super::sink::Sink;
use crate::rng::Rng;

/// How many different lines a pool has.
const POOL: usize = 1500;

const NAMES: [&str; 24] = [
    "parser", "cursor", "session", "leaf", "token", "buffer", "index", "window", "request", "config",
    "reader", "path", "summary", "branch", "cache", "handle", "result", "offset", "theme", "footer", "queue",
    "worker", "stream", "header",
];
const VERBS: [&str; 12] = [
    "read", "write", "append", "resolve", "split", "merge", "flush", "render", "load", "parse", "update",
    "find",
];
const WORDS: [&str; 40] = [
    "the", "a", "when", "file", "tree", "is", "not", "closed", "before", "test", "fails", "because", "value",
    "should", "return", "after", "each", "line", "and", "then", "we", "need", "to", "check", "empty", "case",
    "first", "error", "path", "keeps", "old", "new", "without", "change", "add", "fix", "only", "with", "it",
    "again",
];
const FOREIGN: [&str; 8] = [
    "設定ファイルを読み込めませんでした。もう一度確認してください。",
    "文件已保存,共修改了三处引用。",
    "테스트가 모두 통과했습니다 ✅",
    "Größe der Übertragung überschreitet die Grenze – bitte prüfen",
    "l’élément n’a pas été trouvé à cet emplacement",
    "🚀 release 🎉 done, thanks 👩‍💻 and 👍🏽",
    "Ошибка: не удалось открыть файл журнала",
    "→ ok   ← back   ≈ 3.5 µs   “quoted”",
];

/// The pools.
pub(super) struct Phrases {
    code: Vec<String>,
    shell: Vec<String>,
    prose: Vec<String>,
}

/// Which pool a passage is taken from.
#[derive(Clone, Copy)]
pub(super) enum Tone {
    /// Source text with tabs, quotes and backslashes.
    Code,
    /// The output of programs: paths, colours, numbers.
    Shell,
    /// Text as people and models write it.
    Prose,
}

impl Phrases {
    /// Makes the pools. They are the same for every seed: a seed chooses among them.
    pub(super) fn new() -> Self {
        let mut rng = Rng::new(0x70_68_72_61_73_65);
        let mut pool =
            |line: fn(&mut Rng) -> String| (0..POOL).map(|_| escaped(&line(&mut rng))).collect::<Vec<_>>();
        Self { code: pool(code_line), shell: pool(shell_line), prose: pool(prose_line) }
    }

    /// Writes lines of one pool, without quotes, until `size` bytes are there.
    pub(super) fn passage<W: Write>(&self, sink: &mut Sink<'_, W>, rng: &mut Rng, tone: Tone, size: u64) {
        let (pool, separator) = match tone {
            Tone::Code => (&self.code, "\\n"),
            Tone::Shell => (&self.shell, "\\n"),
            Tone::Prose => (&self.prose, " "),
        };
        let end = sink.bytes() + size;
        sink.raw(rng.pick::<String>(pool));
        while sink.bytes() < end && !sink.failed() {
            sink.raw(separator);
            sink.raw(rng.pick::<String>(pool));
        }
    }
}

/// Writes `length` random characters of base64, rounded up to a multiple of eight.
pub(super) fn base64<W: Write>(sink: &mut Sink<'_, W>, rng: &mut Rng, length: u64) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut group = String::with_capacity(8);
    for _ in 0..length.div_ceil(8) {
        let mut bits = rng.next_u64();
        group.clear();
        for _ in 0..8 {
            group.push(char::from(ALPHABET[(bits & 63) as usize]));
            bits >>= 6;
        }
        sink.raw(&group);
    }
}

/// Makes a path of a source file inside the project.
pub(super) fn path(rng: &mut Rng) -> String {
    let folder = rng.pick(&["src", "tests", "packages/core/src", "crates/engine/src", "docs"]);
    let extension = rng.pick(&["rs", "ts", "md", "json"]);
    format!("{folder}/{}_{}.{extension}", rng.pick(&NAMES), rng.pick(&NAMES))
}

/// Makes a command a model would run.
pub(super) fn command(rng: &mut Rng) -> String {
    let file = path(rng);
    match rng.below(6) {
        0 => format!("cd /home/dev/project && git diff --stat -- {file}"),
        1 => format!("npm test -- --run \"{file}\" 2>&1 | tail -{}", rng.range(5, 80)),
        2 => format!("cargo test {} -- --nocapture", rng.pick(&NAMES)),
        3 => format!("sed -n '{},{}p' {file}", rng.range(1, 200), rng.range(201, 900)),
        4 => format!("find . -name '*.{}' | xargs wc -l\nls -la {file}", rng.pick(&["rs", "ts", "md"])),
        _ => format!("rg -n \"fn {}\\(\" --glob '!target' | head", rng.pick(&VERBS)),
    }
}

/// Makes a few words, as in a label or a name.
pub(super) fn words(rng: &mut Rng, count: u64) -> String {
    let chosen: Vec<&str> = (0..count).map(|_| *rng.pick(&WORDS)).collect();
    chosen.join(" ")
}

/// The text as JSON without its quotes.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn code_line(rng: &mut Rng) -> String {
    let indent = "\t".repeat(rng.below(4) as usize);
    let (name, other, verb) = (*rng.pick(&NAMES), *rng.pick(&NAMES), *rng.pick(&VERBS));
    let number = rng.below(4096);
    match rng.below(12) {
        0 => format!("{indent}let {name} = self.{verb}_{other}({number})?;"),
        1 => format!("{indent}if ({name}.{other} === \"{verb}\") {{"),
        2 => format!("{indent}}}"),
        3 => String::new(),
        4 => format!("{indent}// {}", words(rng, 9)),
        5 => {
            format!("{indent}return Err(Error::{name}(format!(\"cannot {verb} {{}}: {{error}}\", {other})));")
        }
        6 => format!("import {{ {verb}, type {name} }} from \"./{other}.js\";"),
        7 => format!("{indent}const {name} = await {verb}({other}, {{ depth: {number}, strict: true }});"),
        8 => format!("{indent}{name}.replace(/\\\\/g, \"/\").split(\"\\n\").map((x) => x.{other});"),
        9 => format!("{indent}pub fn {verb}_{name}(&mut self, {other}: &str) -> io::Result<()> {{"),
        10 => format!("{indent}\"{name}\": {{ \"{other}\": [{number}, {}], \"on\": null }},", rng.below(99)),
        _ => format!("{indent}assert_eq!({name}.{verb}(), Some({number}), \"{}\");", words(rng, 4)),
    }
}

fn shell_line(rng: &mut Rng) -> String {
    let file = path(rng);
    let (number, other) = (rng.below(2000), rng.range(1, 120));
    match rng.below(12) {
        0 | 1 => format!("{file}:{number}:{other}: {}", words(rng, 6)),
        2 => format!("\u{1b}[32m✓\u{1b}[39m {file} \u{1b}[2m({other} tests)\u{1b}[22m {number}ms"),
        3 => format!("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: {} `{}`", words(rng, 5), rng.pick(&NAMES)),
        4 => format!("-rw-r--r--  1 dev dev {number:>7} Jun {other:>3} 09:{:02} {file}", rng.below(60)),
        5 => format!("     {number}\t{}", code_line(rng)),
        6 => format!(" {file} | {other} {}", "+".repeat(rng.below(30) as usize)),
        7 => format!("[{number}/{other}] Compiling {} v0.{other}.0", rng.pick(&NAMES)),
        8 => format!("{{\"level\":\"info\",\"msg\":\"{}\",\"ms\":{number}}}", words(rng, 4)),
        9 => (*rng.pick(&FOREIGN)).to_owned(),
        10 => format!("C:\\Users\\dev\\project\\{}.log", rng.pick(&NAMES)),
        _ => format!("warning: unused variable: `{}` --> {file}:{number}:{other}\r", rng.pick(&NAMES)),
    }
}

fn prose_line(rng: &mut Rng) -> String {
    let length = rng.range(6, 18);
    let mut line = words(rng, length);
    match rng.below(14) {
        0 => line = format!("\n\n## {line}\n\n"),
        1 => line = format!("\n- `{}`: {line}", path(rng)),
        2 => line = format!("\n\n```ts\n{}\n{}\n```\n", code_line(rng), code_line(rng)),
        3 => line = format!("**{}** {line}:", rng.pick(&NAMES)),
        4 if rng.chance(0.4) => (*rng.pick(&FOREIGN)).clone_into(&mut line),
        _ => line.push('.'),
    }
    line
}
