use super::*;

#[test]
fn enums_and_parameter_properties_become_javascript() {
    let source =
        "enum Level { Low, High }\nclass A { constructor(private name: string) {} }\nexport { Level, A };";
    let stripped = strip("a.ts".as_ref(), source).unwrap();
    assert!(stripped.code.contains("this.name = name"), "{}", stripped.code);
    assert!(stripped.code.contains("Level["), "{}", stripped.code);
}

#[test]
fn imports_of_types_alone_are_left_out() {
    let source = "import type { A } from \"gone\";\nimport { B, c } from \"mod\";\nlet b: B;\nc(b);\n";
    let stripped = strip("a.ts".as_ref(), source).unwrap();
    assert!(!stripped.code.contains("gone"), "{}", stripped.code);
    assert!(stripped.code.contains("import { c } from \"mod\""), "{}", stripped.code);
}

#[test]
fn a_syntax_error_names_its_place() {
    let error = strip("a.ts".as_ref(), "const a = 1;\nconst b: = 2;\n").unwrap_err();
    assert_eq!(error.at, Some(Place { line: 2, column: 10 }), "{error}");
}

#[test]
fn a_place_is_found_again_behind_lines_that_vanished() {
    let source =
        "interface Gone {\n  a: string;\n}\n\nfunction fails(): never {\n  throw new Error('x');\n}\n";
    let stripped = strip("a.ts".as_ref(), source).unwrap();
    let line = stripped.code.lines().position(|line| line.contains("throw")).unwrap() + 1;
    let column = stripped.code.lines().nth(line - 1).unwrap().find("new Error").unwrap() + 1;
    let place = Place { line: u32::try_from(line).unwrap(), column: u32::try_from(column).unwrap() };
    assert_eq!(stripped.places.original(place), Some(Place { line: 6, column: 9 }));
}
