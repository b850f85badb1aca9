//! Loading, and the first steps.

use offshoot_agent::cancel::Cancel;
use offshoot_agent::hooks::Handler;
use serde_json::json;

use crate::support::{Setup, stage};

#[tokio::test]
async fn an_extension_says_what_it_registers() {
    let stage = stage(
        r#"
        import { Type } from "typebox";
        export default function (pi: any) {
            pi.on("session_start", () => {});
            pi.registerCommand("hi", { description: "Says hi", handler: async () => {} });
            pi.registerTool({ name: "t", description: "d", parameters: Type.Object({ a: Type.Optional(Type.String()) }), execute() {} });
        }"#,
    )
    .await;
    let registry = stage.only().registry();
    assert_eq!(registry.commands[0].name, "hi");
    assert_eq!(
        registry.tools[0].spec.parameters,
        json!({"type": "object", "properties": {"a": {"type": "string"}}})
    );
    assert!(stage.only().wants("session_start"));
    assert!(!stage.only().wants("session_tree"));
}

#[tokio::test]
async fn a_syntax_error_names_file_line_and_column_of_the_typescript() {
    let stage = Setup::default().with(&[("bad.ts", "type A = string;\n\nconst b: = 2;\n")]).await;
    let message = &stage.errors[0].message;
    assert!(message.contains("bad.ts:3:10: "), "{message}");
    assert!(stage.extensions.is_empty());
}

#[tokio::test]
async fn an_exception_names_the_place_in_the_typescript() {
    let stage = stage(
        "interface Gone {\n  a: string;\n}\nexport default function (pi: any) {\n  pi.on('x', () => {\n    throw new Error('so it is');\n  });\n}\n",
    )
    .await;
    let error = Handler::call(&stage.only(), "x", &json!({}), &Cancel::new()).await.unwrap_err();
    assert!(error.starts_with("so it is\n"), "{error}");
    assert!(error.contains("one.ts:6:"), "{error}");
}

#[tokio::test]
async fn several_files_make_one_extension() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("x/utils.ts", "export const greet = (name: string): string => `hi ${name}`;");
    write("x/lib/data.json", r#"{"n": 7}"#);
    write("x/lib/index.ts", "import data from './data.json'; export const n: number = data.n;");
    write(
        "x/index.ts",
        "import { greet } from './utils.js'; import { n } from './lib';
         export default (pi) => pi.on('x', () => ({ text: greet('you'), n, url: import.meta.url }));",
    );
    let stage = Setup::default().of(&[home.path().join("x")]).await;
    assert_eq!(stage.errors, []);
    assert_eq!(stage.only().name(), "x");
    let answer = stage.fire("x", json!({})).await;
    assert_eq!((answer["text"].as_str(), answer["n"].as_i64()), (Some("hi you"), Some(7)));
    assert!(answer["url"].as_str().unwrap().ends_with("/x/index.ts"), "{answer}");
}

#[tokio::test]
async fn everything_that_extensions_may_use_is_declared() {
    let mut stage = stage(
        "export default (pi) => pi.registerCommand('go', { handler: async (_a, ctx) => {
             const names = [pi, ctx, ctx.ui, ctx.sessionManager].flatMap((one) => Object.keys(one));
             ctx.ui.notify(JSON.stringify(names));
         } })",
    )
    .await;
    stage.command("go").await.unwrap();
    let notes = stage.notes();
    let names: Vec<String> = serde_json::from_str(notes[0].strip_prefix("info: ").unwrap()).unwrap();
    assert!(names.len() > 90, "{names:?}");
    let declared = |name: &String| {
        let declarations = offshoot_extensions::DECLARATIONS;
        ["(", ":", "?:", "<", "?("].iter().any(|end| declarations.contains(&format!("{name}{end}")))
    };
    let missing: Vec<&String> = names.iter().filter(|name| !declared(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test]
async fn what_was_trusted_by_its_hash_imports_nothing_from_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("elsewhere/evil.ts", "export const n = 1;");
    write("x/fine.ts", "export const n = 1;");
    std::os::unix::fs::symlink(home.path().join("elsewhere"), home.path().join("x/link")).unwrap();
    for (import, is_fine) in [("./fine.ts", true), ("../elsewhere/evil.ts", false), ("./link/evil.ts", false)]
    {
        write("x/index.ts", &format!("import {{ n }} from '{import}'; export default () => n;"));
        let stage = Setup { confined: true, ..Setup::default() }.of(&[home.path().join("x")]).await;
        assert_eq!(stage.errors.is_empty(), is_fine, "{import}: {:?}", stage.errors);
        let stage = Setup::default().of(&[home.path().join("x")]).await;
        assert_eq!(stage.errors, [], "{import}");
    }
}

#[tokio::test]
async fn globals_are_those_of_the_modules_whoever_asks_first() {
    let body = "pi.on('x', async () => {
        const { Buffer: imported } = await import('node:buffer');
        const url = new URL('../b?q=1#h', 'https://example.org:8080/a/c');
        return {
            same: imported === Buffer, text: Buffer.from('aGkg4pyT', 'base64').toString(), url: url.href, query: url.searchParams.get('q'),
            coded: btoa('hi'), bytes: [...new TextEncoder().encode('é')], decoded: new TextDecoder().decode(new Uint8Array([0xe2, 0x9c, 0x93])),
            random: crypto.getRandomValues(new Uint8Array(4)).length, cwd: process.cwd() === process.cwd(), clone: structuredClone({ a: [1] }),
        };
    })";
    let expected = json!({
        "same": true, "text": "hi ✓", "url": "https://example.org:8080/b?q=1#h", "query": "1", "coded": "aGk=",
        "bytes": [195, 169], "decoded": "✓", "random": 4, "cwd": true, "clone": {"a": [1]},
    });
    for first in ["", "import 'node:fs';", "Buffer.from('a'); URL; process.env;"] {
        let stage = stage(&format!("{first} export default (pi) => {{ {body} }}")).await;
        assert_eq!(stage.fire("x", json!({})).await, expected, "{first}");
    }
}

#[tokio::test]
async fn that_a_provider_is_not_used_is_told() {
    let stage = stage("export default (pi) => pi.registerProvider('mine', { baseUrl: 'http://x' })").await;
    let troubles = stage.troubles();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(troubles[0].message.starts_with("the provider `mine` is not used"), "{troubles:?}");
    assert!(!troubles[0].disabled);
}
