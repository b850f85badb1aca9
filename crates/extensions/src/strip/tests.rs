use super::*;

/// Strips a module whose imports all exist.
fn stripped(source: &str) -> (String, Places) {
    let stripped = strip("a.ts".as_ref(), source, ScriptKind::Module, &mut |_, _| false).unwrap();
    (stripped.code, stripped.places)
}

#[test]
fn enums_and_parameter_properties_become_javascript() {
    let source =
        "enum Level { Low, High }\nclass A { constructor(private name: string) {} }\nexport { Level, A };";
    let (code, _) = stripped(source);
    assert!(code.contains("this.name = name"), "{}", code);
    assert!(code.contains("Level["), "{}", code);
}

#[test]
fn imports_of_types_alone_are_left_out() {
    let source = "import type { A } from \"gone\";\nimport { B, c } from \"mod\";\nlet b: B;\nc(b);\n";
    let (code, _) = stripped(source);
    assert!(!code.contains("gone"), "{}", code);
    assert!(code.contains("import { c } from \"mod\""), "{}", code);
}

#[test]
fn a_syntax_error_names_its_place() {
    let error =
        strip("a.ts".as_ref(), "const a = 1;\nconst b: = 2;\n", ScriptKind::Module, &mut |_, _| false)
            .unwrap_err();
    assert!(error.starts_with("a.ts:2:10: "), "{error}");
}

#[test]
fn a_place_is_found_again_behind_lines_that_vanished() {
    let source =
        "interface Gone {\n  a: string;\n}\n\nfunction fails(): never {\n  throw new Error('x');\n}\n";
    let (code, places) = stripped(source);
    let line = code.lines().position(|line| line.contains("throw")).unwrap() + 1;
    let column = code.lines().nth(line - 1).unwrap().find("new Error").unwrap() + 1;
    let place = Place { line: u32::try_from(line).unwrap(), column: u32::try_from(column).unwrap() };
    assert_eq!(places.original(place), Some(Place { line: 6, column: 9 }));
}

#[test]
fn names_that_a_module_lacks_are_declared_without_a_value() {
    let source = "import a, { b as c, d } from 'x';\nexport { e, f as g } from 'x';\nuse(a, c, d);\n";
    let mut lacks = |_: &str, name: &str| ["b", "default", "f"].contains(&name);
    let code = strip("a.js".as_ref(), source, ScriptKind::Module, &mut lacks).unwrap().code;
    assert!(code.contains("import { d } from \"x\"") && code.contains("export { e } from \"x\""), "{code}");
    assert!(code.contains("var a;") && code.contains("var c;") && code.contains(" as \"g\" }"), "{code}");
}

#[test]
fn the_kind_of_a_file_is_read_from_its_name_and_its_text() {
    use ScriptKind::{CommonJs, Module};
    let of = |name: &str, text: &str| kind(name.as_ref(), text, false);
    assert_eq!(of("a.mjs", ""), Module);
    assert_eq!(of("a.cjs", "export {}"), CommonJs);
    assert_eq!(of("a.js", "export const a = 1"), Module);
    assert_eq!(of("a.js", "return 1"), CommonJs);
    assert_eq!(of("a.js", "a = 1"), CommonJs);
    assert_eq!(kind("a.js".as_ref(), "a = 1", true), Module);
    assert_eq!(of("a.ts", "const a: number = await 1"), Module);
    assert_eq!(of("a.ts", "module.exports = () => 1"), CommonJs);
}

#[test]
fn the_exports_of_a_file_are_read_without_running_it() {
    let names = |exports: Exports| exports.names.into_iter().collect::<Vec<_>>().join(" ");
    let source = "export const { a, b: [c = 1, ...d] } = x; export interface I {} export type T = 1; interface J {}\n\
                  export function f() {} export class K {} export enum E { A } export { a as g, J }; export * from 'y';\n\
                  export * as n from 'z'; export default 1;";
    let found = exports("a.ts".as_ref(), source).unwrap();
    assert_eq!(found.stars, ["y"]);
    assert_eq!(names(found), "E K a c d default f g n");
    let source = "exports.a = 1; module.exports.b = 2; Object.defineProperty(exports, 'c', {}); exports['d-e'] = 3;\n\
                  0 && (module.exports = { f, ...require('./g') }); __exportStar(require('./h'), exports);";
    let found = commonjs_exports("a.js".as_ref(), source);
    assert_eq!(found.stars, ["./g", "./h"]);
    assert_eq!(names(found), "a b c d-e f");
}
