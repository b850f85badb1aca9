use super::*;

#[test]
fn enums_and_parameter_properties_become_javascript() {
    let source =
        "enum Level { Low, High }\nclass A { constructor(private name: string) {} }\nexport { Level, A };";
    let (code, _) = strip("a.ts".as_ref(), source).unwrap();
    assert!(code.contains("this.name = name"), "{}", code);
    assert!(code.contains("Level["), "{}", code);
}

#[test]
fn imports_of_types_alone_are_left_out() {
    let source = "import type { A } from \"gone\";\nimport { B, c } from \"mod\";\nlet b: B;\nc(b);\n";
    let (code, _) = strip("a.ts".as_ref(), source).unwrap();
    assert!(!code.contains("gone"), "{}", code);
    assert!(code.contains("import { c } from \"mod\""), "{}", code);
}

#[test]
fn a_syntax_error_names_its_place() {
    let error = strip("a.ts".as_ref(), "const a = 1;\nconst b: = 2;\n").unwrap_err();
    assert!(error.starts_with("a.ts:2:10: "), "{error}");
}

#[test]
fn a_place_is_found_again_behind_lines_that_vanished() {
    let source =
        "interface Gone {\n  a: string;\n}\n\nfunction fails(): never {\n  throw new Error('x');\n}\n";
    let (code, places) = strip("a.ts".as_ref(), source).unwrap();
    let line = code.lines().position(|line| line.contains("throw")).unwrap() + 1;
    let column = code.lines().nth(line - 1).unwrap().find("new Error").unwrap() + 1;
    let place = Place { line: u32::try_from(line).unwrap(), column: u32::try_from(column).unwrap() };
    assert_eq!(places.original(place), Some(Place { line: 6, column: 9 }));
}
