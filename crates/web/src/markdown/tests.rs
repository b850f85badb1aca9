use super::*;

fn json(text: &str) -> String {
    let mut out = Json::new();
    write_text(&mut out, text);
    String::from_utf8(out).unwrap()
}

#[test]
fn prose_becomes_tokens_and_plain_text_stays_a_string() {
    assert_eq!(json("just words, and: more."), r#""just words, and: more.""#);
    assert_eq!(json("a **b** `c`"), r#"[1,"a ",10,"b",0," ",["c","c"],0]"#);
    assert_eq!(json("# T\n- [x] x\n\n3. y"), r#"[2,"T",0,6,8,-4,"x",0,0,["o","3"],8,"y",0,0]"#);
    assert_eq!(json("```rs\nfn\n```"), r#"[["p","rs","fn\n"]]"#);
    assert_eq!(json("|a|\n|-|\n|b|"), r#"[13,14,15,"a",0,0,14,16,"b",0,0,0]"#);
}

#[test]
fn headings_start_below_those_of_the_page_and_skip_no_level() {
    let names = |text: &str| -> Vec<&str> {
        let tokens = tokens(text);
        let opened = tokens.iter().filter_map(|token| match token {
            Token::Open(tag) => Some(tag.name()),
            _ => None,
        });
        opened.collect()
    };
    assert_eq!(names("# a\n### b\n# c\n## d\n###### e"), ["h3", "h4", "h3", "h4", "h5"]);
    assert_eq!(names("#### a\n## b\n### c"), ["h3", "h3", "h4"]);
}

#[test]
fn raw_html_is_text_and_images_are_links() {
    assert_eq!(json("<b>x</b>"), r#"[1,"<b>x</b>",0]"#);
    assert_eq!(json("![alt](https://a.b/c.png)"), r#"[1,["a","https://a.b/c.png"],"alt",0,0]"#);
}

#[test]
fn only_some_addresses_are_links() {
    assert_eq!(json("[x](javascript:alert(1))"), r#"[1,"x",0]"#);
    let safe = ["http://a", "HTTPS://a", "mailto:a@b", "#x"];
    let unsafe_ones = [
        "javascript:x",
        "JavaScript:x",
        " https://a",
        "java\nscript:x",
        "data:text/html,x",
        "//a",
        "a/b",
        "",
    ];
    assert!(safe.into_iter().all(is_safe_url));
    assert!(!unsafe_ones.into_iter().any(is_safe_url));
}

#[test]
fn nesting_has_an_end() {
    let deep = format!("{} x", ">".repeat(1_000));
    let opened = tokens(&deep).iter().filter(|token| matches!(token, Token::Open(_))).count();
    assert_eq!(opened, DEEPEST);
    let text = tokens(&deep).into_iter().any(|token| matches!(token, Token::Text(text) if text == "x"));
    assert!(text);
}
