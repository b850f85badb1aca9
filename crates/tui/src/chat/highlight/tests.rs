use super::*;

fn parts(language: &str, code: &str) -> Vec<Vec<(String, Role)>> {
    let lines: Vec<&str> = code.split('\n').collect();
    let read = CodeCache::default().parts(0, language, &lines);
    let named = |(line, parts): (&&str, Parts)| {
        parts.into_iter().map(|(range, token)| (line[range].to_owned(), token)).collect()
    };
    lines.iter().zip(read).map(named).collect()
}

#[test]
fn keywords_texts_numbers_and_comments_are_distinguished() {
    let read = parts("rust", "let x = \"a\"; // note\nlet y = 12;\n");
    let has = |line: usize, text: &str, token| read[line].contains(&(text.to_owned(), token));
    assert!(has(0, "let", Role::Accent), "{read:?}");
    assert!(has(0, "\"a\"", Role::Success), "{read:?}");
    assert!(has(0, "// note", Role::Thinking), "{read:?}");
    assert!(has(1, "12", Role::Warning), "{read:?}");
}

#[test]
fn all_of_a_line_is_there_whatever_the_language() {
    for language in ["rust", "python", "nonsense", "", "ts,ignore", "html"] {
        for (line, parts) in parts(language, "a <b> 'c\n\"\"\"漢 {{{\n").iter().enumerate() {
            let joined: String = parts.iter().map(|(text, _)| text.as_str()).collect();
            assert_eq!(joined, ["a <b> 'c", "\"\"\"漢 {{{", ""][line], "{language}");
        }
    }
}

#[test]
fn code_that_grows_is_read_line_by_line_and_once() {
    let mut cache = CodeCache::default();
    let code: Vec<String> = (0..100).map(|n| format!("let line{n} = {n};")).collect();
    for upto in 1..=code.len() {
        let lines: Vec<&str> = code[..upto].iter().map(String::as_str).collect();
        assert_eq!(cache.parts(0, "rust", &lines).len(), upto);
        // A line that was read again would be there twice, or not in order.
        let known: Vec<&str> = cache.pieces[0].lines.iter().map(|(line, _)| line.as_str()).collect();
        assert_eq!(known, lines[..upto - 1]);
    }
    // Lines that are known keep what was read of them.
    cache.pieces[0].lines[0].1 = vec![(0..1, Role::Error)];
    let lines: Vec<&str> = code.iter().map(String::as_str).collect();
    assert_eq!(cache.parts(0, "rust", &lines)[0], [(0..1, Role::Error)]);
}
