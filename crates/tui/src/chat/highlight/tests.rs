use super::*;

fn parts(language: &str, code: &str) -> Vec<Vec<(String, Token)>> {
    let lines: Vec<&str> = code.split('\n').collect();
    let read = CodeCache::default().parts(0, language, &lines, &Grammars);
    let named = |(line, parts): (&&str, Parts)| {
        parts.into_iter().map(|(range, token)| (line[range].to_owned(), token)).collect()
    };
    lines.iter().zip(read).map(named).collect()
}

#[test]
fn keywords_texts_numbers_and_comments_are_told_apart() {
    let read = parts("rust", "let x = \"a\"; // note\nlet y = 12;\n");
    let has = |line: usize, text: &str, token| read[line].contains(&(text.to_owned(), token));
    assert!(has(0, "let", Token::Keyword), "{read:?}");
    assert!(has(0, "\"a\"", Token::Text), "{read:?}");
    assert!(has(0, "// note", Token::Comment), "{read:?}");
    assert!(has(1, "12", Token::Constant), "{read:?}");
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
    #[derive(Debug)]
    struct Counting(std::rc::Rc<std::cell::Cell<usize>>);
    struct CountingReader(std::rc::Rc<std::cell::Cell<usize>>);
    impl Languages for Counting {
        fn reader(&self, _: &str) -> Option<Box<dyn Reader>> {
            Some(Box::new(CountingReader(self.0.clone())))
        }
    }
    impl Reader for CountingReader {
        fn line(&mut self, line: &str) -> Parts {
            self.0.set(self.0.get() + 1);
            vec![(0..line.len(), Token::Name)]
        }
    }
    let count = std::rc::Rc::new(std::cell::Cell::new(0));
    let languages = Counting(count.clone());
    let mut cache = CodeCache::default();
    let code: Vec<String> = (0..100).map(|n| format!("line {n}")).collect();
    for upto in 1..=code.len() {
        let lines: Vec<&str> = code[..upto].iter().map(String::as_str).collect();
        assert_eq!(cache.parts(0, "x", &lines, &languages).len(), upto);
    }
    assert_eq!(count.get(), 99);
}
