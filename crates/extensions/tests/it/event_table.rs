//! The event part of `offshoot.d.ts` and of `docs/extensions.md` is what the table of events says.
//!
//! `UPDATE_DOCS=1 cargo test -p offshoot-extensions --test it event_table` writes both.

use std::fs;
use std::path::Path;

use offshoot_agent::hooks::events::{Combine, EVENTS, Event, TYPES, fields, name_of};

/// Compares the text between two marks of a file with what it should be, or writes it.
fn check(file: &str, open: &str, close: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let mut text = fs::read_to_string(&path).unwrap();
    let start = text.find(open).unwrap_or_else(|| panic!("{file} has no `{open}`"));
    let from = start + text[start..].find('\n').unwrap() + 1;
    let to = from + text[from..].find(close).unwrap_or_else(|| panic!("{file} has no `{close}`"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        text.replace_range(from..to, expected);
        fs::write(&path, &text).unwrap();
    } else {
        assert_eq!(&text[from..to], expected, "{file} is not what the table says: run with UPDATE_DOCS=1");
    }
}

/// Writes a declaration on one line.
fn object(declaration: &'static str) -> String {
    let declaration = declaration.replace('\'', "\"");
    if declaration.is_empty() { "{}".to_owned() } else { format!("{{ {declaration} }}") }
}

fn declared_payload(event: &Event) -> String {
    let mut parts = vec![object(event.payload)];
    if event.name.starts_with("session_") {
        parts.insert(0, "SessionEventBase".to_owned());
    }
    if event.can_be_cancelled() {
        parts.insert(0, "Gate".to_owned());
    }
    parts.join(" & ")
}

fn declared_answer(event: &Event) -> String {
    match event.answer {
        "" if event.returned.is_some() => "any".to_owned(),
        "" => "void".to_owned(),
        answer => object(answer),
    }
}

#[test]
fn the_declarations_have_all_events() {
    let mut text = String::new();
    for (name, declaration) in TYPES {
        let lines: String = fields(declaration).map(|field| format!("    {field};\n")).collect();
        text.push_str(&format!("  export interface {name} {{\n{lines}  }}\n\n"));
    }
    text.push_str(
        "  /** Events, their payloads, and the answers of handlers. Unknown names are accepted too. */\n",
    );
    text.push_str("  export interface Events {\n");
    for event in EVENTS {
        if let Some(note) = remark(event) {
            text.push_str(&format!("    /** {}. */\n", capital(&note)));
        }
        let (payload, answer) = (declared_payload(event), declared_answer(event));
        text.push_str(&format!("    {}: [{payload}, {answer}];\n", event.name));
    }
    text.push_str("  }\n  ");
    check("offshoot.d.ts", "// <events>", "// </events>", &text);
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Everything about an event that its fields do not say.
fn remark(event: &Event) -> Option<String> {
    let edited = event.edited.map(|field| format!("change `event.{field}` in place"));
    let returned = event.returned.map(|field| format!("the returned value replaces `{field}`"));
    let failure = event.failure_blocks.then(|| "if a handler fails, it is blocked".to_owned());
    let note = Some(event.note.to_owned()).filter(|note| !note.is_empty());
    let parts: Vec<String> = [edited, returned, failure, note].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Lists the names of fields; choices are named, and the fields of a type that the table declares.
fn listed(declaration: &'static str) -> String {
    let one = |field: &'static str| {
        let kind = field.split_once(": ").map_or("", |(_, kind)| kind);
        let name = format!("`{}`", name_of(field));
        if let Some((_, declaration)) = TYPES.iter().find(|(name, _)| *name == kind) {
            return format!("{name} ({})", listed(declaration));
        }
        match kind.starts_with('\'') {
            true => format!("{name} {}", kind.replace('\'', "").replace(" | ", "/")),
            false => name,
        }
    };
    fields(declaration).map(one).collect::<Vec<_>>().join(", ")
}

/// Decides whether an event belongs to a group.
type Belongs = fn(&Event) -> bool;

#[test]
fn the_documentation_has_all_events() {
    let document = "../../docs/extensions.md";
    let groups: [(&str, Belongs); 5] = [
        ("merge", |event| event.combine == Combine::Merge),
        ("chain", |event| event.combine == Combine::Chain),
        ("collect", |event| matches!(event.combine, Combine::Collect(_))),
        ("first", |event| event.combine == Combine::First),
        ("notify", |event| event.combine == Combine::Notify),
    ];
    for (group, belongs) in groups {
        let has_answers = group != "notify";
        let mut text = match has_answers {
            true => "| event | fields | answer | |\n|---|---|---|---|\n".to_owned(),
            false => "| event | fields | |\n|---|---|---|\n".to_owned(),
        };
        for event in EVENTS.iter().filter(|event| belongs(event)) {
            let cells = [
                Some(listed(event.payload)),
                has_answers.then(|| listed(event.answer)),
                Some(remark(event).unwrap_or_default()),
            ];
            let cells: Vec<String> = cells.into_iter().flatten().collect();
            text.push_str(&format!("| `{}` | {} |\n", event.name, cells.join(" | ")));
        }
        check(document, &format!("<!-- events: {group} -->"), "<!-- end -->", &text);
    }
    let older = EVENTS.iter().flat_map(|event| event.older_names.iter().map(|older| (older, event.name)));
    let mut text = String::from("| older name | event |\n|---|---|\n");
    older.for_each(|(older, name)| text.push_str(&format!("| `{older}` | `{name}` |\n")));
    check(document, "<!-- events: older names -->", "<!-- end -->", &text);
}
