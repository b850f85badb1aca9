//! `--json` prints what `offshoot schema` says, and `docs/json.md` describes it.
//!
//! `UPDATE_DOCS=1 cargo test -p offshoot --test it schema` writes the fields into the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use testkit::postgres::PostgresServer;

use crate::support::Home;

const TREE: &str = "\
u1 user Build a CLI
a2<u1 assistant Node or Rust?
u3<a2 user Use Node
a4<u3 assistant Done
u5<a2 user Use Rust
a6<u5 assistant Compiles
l7<a6 label u3 node
";

/// Runs of every command that prints JSON: its arguments, where `FILE` is a session and `DATABASE` a database that has one,
/// and its standard input.
const RUNS: &[(&str, &str)] = &[
    ("append FILE --json", r#"{"type":"message","message":{"role":"user","content":"hi"}}"#),
    ("append FILE --json --dry-run", r#"{"type":"message","message":{"role":"user","content":"hi"}}"#),
    ("branch-here FILE u5 --json", ""),
    ("branches FILE --json", ""),
    ("check FILE broken.jsonl lost.jsonl other.jsonl --json", ""),
    ("check sub --json", ""),
    ("cherry-pick FILE a4 --json", ""),
    ("clone FILE --json", ""),
    ("clone FILE --all --json", ""),
    ("compact FILE --json --dry-run", ""),
    ("config --json", ""),
    ("context FILE --json", ""),
    ("context tools.jsonl --json --llm", ""),
    ("db list DATABASE --json", ""),
    ("db status DATABASE --json", ""),
    ("diff FILE u3 u5 --json", ""),
    ("diff tools.jsonl a6 a2 --json", ""),
    ("export FILE --json -o out.html", ""),
    ("export FILE --json -o out.jsonl --redact", ""),
    ("export-branch FILE a4 out2.jsonl --json", ""),
    ("extension list --json", ""),
    ("follow FILE --from-start --until-idle 0 --json", ""),
    ("fork FILE u3 --json", ""),
    ("fork FILE a4 --json --dry-run", ""),
    ("import other-place.jsonl --json", ""),
    ("install ./pack --json", ""),
    ("label FILE a4 done --json", ""),
    ("label FILE u3 --json", ""),
    ("label FILE a4 --json", ""),
    ("label FILE -d u3 --json", ""),
    ("labels FILE --json", ""),
    ("list --json", ""),
    ("login --list --json", ""),
    ("mcp list --json", ""),
    ("merge FILE a4 --json", ""),
    ("merge FILE a2 --json", ""),
    ("migrate old.jsonl --json", ""),
    ("migrate FILE --json", ""),
    ("models --json", ""),
    ("name FILE A name --json", ""),
    ("name FILE --json", ""),
    ("new --json", ""),
    ("note FILE Node was slow --json", ""),
    ("note FILE Node was slow --json --dry-run", ""),
    ("path FILE --json", ""),
    ("permissions --json", ""),
    ("pop FILE -m nothing --json", ""),
    ("push FILE here --json", ""),
    ("remove ./pack --json", ""),
    ("repair broken.jsonl --json", ""),
    ("repair broken.jsonl --json --undo", ""),
    ("repair lost.jsonl --json --copy copy.jsonl", ""),
    ("report --json", ""),
    ("sessions --json --all", ""),
    ("settings --json", ""),
    ("show FILE u3 --json", ""),
    ("show broken.jsonl a2 --json", ""),
    ("stats FILE --json", ""),
    ("stats tools.jsonl --json", ""),
    ("switch FILE a4 --json", ""),
    ("switch FILE start --json", ""),
    ("tree FILE --json", ""),
    ("tree FILE --json --turns", ""),
    ("tree FILE --json --flat", ""),
    ("tree FILE --json --nested", ""),
    ("trust --list --json", ""),
    ("undo FILE --json", ""),
    ("update --json", ""),
];

/// A home with the sessions that the runs use.
fn home() -> Home {
    let home = Home::new();
    let text = String::from_utf8(testkit::drawing::session_text(TREE)).unwrap();
    let broken: String = text
        .lines()
        .map(|line| format!("{}\n", if line.contains("\"a2\",") { &line[..60] } else { line }))
        .collect();
    home.file("project/pack/skills/pdf/SKILL.md", "---\ndescription: Reads PDF files.\n---\n");
    home.file("offshoot/settings.json", r#"{"packages": ["../project/pack"]}"#);
    home.file("project/broken.jsonl", broken);
    home.file("project/lost.jsonl", &text[40..]);
    home.file("project/other.jsonl", "{}\n");
    home.file("project/sub/other.jsonl", "{}\n");
    home.file("project/old.jsonl", include_str!("v1.jsonl"));
    home.file("elsewhere/other-place.jsonl", &text);
    fs::rename(home.path("elsewhere/other-place.jsonl"), home.path("project/other-place.jsonl")).unwrap();
    let call = r#"{"type":"message","id":"a2","parentId":"u1","timestamp":"2025-01-01T01:00:00.000Z","message":{"role":"assistant","provider":"p","model":"m","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}}],"usage":{"input":9,"output":1,"cost":{"total":0.5}}}}"#;
    let result = r#"{"type":"message","id":"r3","parentId":"a2","timestamp":"2025-01-01T01:00:01.000Z","message":{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[],"isError":false}}"#;
    let shell = r#"{"type":"message","id":"b4","parentId":"r3","timestamp":"2025-01-01T01:00:02.000Z","message":{"role":"bashExecution","command":"ls","output":"","exitCode":1}}"#;
    let drawing = format!("u1 user Build\n! {call}\n! {result}\n! {shell}\na6<u1 assistant Other\n");
    home.file("project/tools.jsonl", testkit::drawing::session_text(&drawing));
    home
}

fn schema(home: &Home, command: &str) -> Json {
    home.run(&["schema", command]).json()
}

/// Returns true if a command prints one of several forms.
fn is_choice(schema: &Json) -> bool {
    schema.get("anyOf").is_some() && schema.get("properties").is_none()
}

/// Forbids fields that the schema does not name.
fn strict(schema: &mut Json) {
    if is_choice(schema) {
        schema["anyOf"].as_array_mut().unwrap().iter_mut().for_each(strict);
    } else if schema.get("items").is_some() {
        strict(&mut schema["items"]);
    } else {
        schema["unevaluatedProperties"] = json!(false);
    }
}

#[test]
fn every_command_prints_what_its_schema_says() {
    let mut tested = BTreeSet::new();
    let server = PostgresServer::start();
    let database = server.database();
    for (line, input) in RUNS {
        let home = home();
        let file = home.session(TREE);
        let place = |word| match word {
            "FILE" => file.as_str(),
            "DATABASE" => database.as_str(),
            word => word,
        };
        let arguments: Vec<&str> = line.split(' ').map(place).collect();
        if line.contains("DATABASE") {
            home.run(&["db", "init", &database]).ok();
            home.run(&["db", "push", &file, &database.replacen('?', "/session?", 1)]).ok();
        }
        if line.contains("--undo") {
            home.run(&["repair", "broken.jsonl"]).ok();
        }
        let run = home.run_with_input(&arguments, input.as_bytes());
        let mut schema = schema(&home, arguments[0]);
        // The line of an entry is what a program wrote there.
        if arguments[0] != "follow" {
            strict(&mut schema);
        }
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(run.out().lines().count() > 0, "{line}\n{run}");
        for printed in run.out().lines() {
            let value: Json =
                serde_json::from_str(printed).unwrap_or_else(|error| panic!("{line}: {error}\n{run}"));
            if let Err(error) = validator.validate(&value) {
                panic!("{line}: {error} at {}\n{value:#}\n{schema:#}", error.instance_path());
            }
        }
        tested.insert(arguments[0].to_owned());
    }
    let with_schema: BTreeSet<String> =
        Home::new().run(&["schema"]).ok().lines().map(str::to_owned).collect();
    assert_eq!(tested, with_schema);
}

#[test]
fn every_command_with_the_option_json_has_a_schema() {
    let home = Home::new();
    let help = home.run(&["--help"]);
    let (commands, _) = help.ok().split_once("\nOptions:\n").unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let has_option = |name: &&str| {
        // The option of these belongs to a subcommand.
        let arguments = match *name {
            "extension" | "db" | "mcp" => vec![*name, "list", "--help"],
            name => vec![name, "--help"],
        };
        home.run(&arguments).ok().split_whitespace().any(|word| word == "--json")
    };
    let with_option: BTreeSet<String> = names.filter(has_option).map(str::to_owned).collect();
    let with_schema: BTreeSet<String> = home.run(&["schema"]).ok().lines().map(str::to_owned).collect();
    assert_eq!(with_option, with_schema);
    assert_eq!(home.run(&["schema", "man"]).code, 1);
}

/// Returns the type of a field in words.
fn type_of(schema: &Json) -> String {
    let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    match schema {
        Json::Bool(_) => "any".into(),
        schema if schema["$ref"].is_string() => format!("`{}`", name(schema["$ref"].as_str().unwrap())),
        schema if schema["enum"].is_array() => {
            let words = schema["enum"].as_array().unwrap().iter();
            words.map(|word| format!("`{}`", word.as_str().unwrap_or("null"))).collect::<Vec<_>>().join(", ")
        }
        schema if schema["oneOf"].is_array() => {
            let words = schema["oneOf"].as_array().unwrap().iter();
            words.map(|word| format!("`{}`", word["const"].as_str().unwrap())).collect::<Vec<_>>().join(", ")
        }
        schema if schema["anyOf"].is_array() => {
            schema["anyOf"].as_array().unwrap().iter().map(type_of).collect::<Vec<_>>().join(" or ")
        }
        schema if schema.get("additionalProperties").is_some_and(|values| *values != json!(false)) => {
            format!("object of {}", type_of(&schema["additionalProperties"]))
        }
        schema => match &schema["type"] {
            Json::Array(types) => {
                types.iter().map(|one| type_of(&with_type(schema, one))).collect::<Vec<_>>().join(" or ")
            }
            Json::String(one) if one == "array" && schema.get("items").is_some() => {
                format!("array of {}", type_of(&schema["items"]))
            }
            Json::String(one) => one.clone(),
            _ => "any".into(),
        },
    }
}

fn with_type(schema: &Json, one: &Json) -> Json {
    let mut schema = schema.clone();
    schema["type"] = one.clone();
    schema
}

/// Lists the fields of an object, also those of its parts.
fn fields(schema: &Json, definitions: &Json, out: &mut BTreeMap<String, (String, String, bool)>) {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let description = field["description"].as_str().unwrap_or_default().replace('\n', " ");
        out.insert(name.clone(), (type_of(field), description, required.contains(&name.as_str())));
    }
    let parts =
        ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|key| schema[key].as_array().into_iter().flatten());
    for part in parts {
        fields(part, definitions, out);
    }
    if let Some(path) = schema["$ref"].as_str() {
        fields(&definitions[path.rsplit('/').next().unwrap()], definitions, out);
    }
}

/// Describes an object, or an array of objects.
fn describe(schema: &Json, definitions: &Json, page: &mut String) {
    if let Some(items) = schema.get("items").filter(|_| schema["type"] == "array") {
        writeln!(page, "An array of objects:\n").unwrap();
        return describe(items, definitions, page);
    }
    let mut all = BTreeMap::new();
    fields(schema, definitions, &mut all);
    if all.is_empty() {
        let description = schema["description"].as_str().unwrap_or_default();
        return writeln!(page, "{} ({})\n", description, type_of(schema)).unwrap();
    }
    for (name, (kind, description, is_required)) in all {
        let optional = if is_required { "" } else { ", optional" };
        writeln!(page, "- `{name}` ({kind}{optional}) {description}").unwrap();
    }
    page.push('\n');
}

#[test]
fn the_page_of_json_describes_every_schema() {
    let home = Home::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let document = fs::read_to_string(&path).unwrap();
    let (words, _) = document.split_once("## Commands\n").unwrap();
    let mut page = format!("{words}## Commands\n\n");
    let mut types = BTreeMap::new();
    for name in home.run(&["schema"]).ok().lines() {
        let schema = schema(&home, name);
        writeln!(page, "### {name}\n").unwrap();
        let forms = match is_choice(&schema) {
            true => schema["anyOf"].as_array().unwrap().clone(),
            false => vec![schema.clone()],
        };
        for (at, form) in forms.iter().enumerate() {
            if at > 0 {
                page.push_str("Or:\n\n");
            }
            describe(form, &schema["$defs"], &mut page);
        }
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            types.insert(name.clone(), (definition.clone(), schema["$defs"].clone()));
        }
    }
    page.push_str("## Types\n\n");
    for (name, (definition, definitions)) in types {
        writeln!(page, "### {name}\n").unwrap();
        describe(&definition, &definitions, &mut page);
    }
    let page = format!("{}\n", page.trim_end());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    } else {
        assert!(document == page, "docs/json.md is stale: run the test with UPDATE_DOCS=1");
    }
}
