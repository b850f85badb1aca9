use super::*;

fn shown(text: &str, columns: usize) -> String {
    let rows = rows(text, columns, Theme::dark(), &mut CodeCache::plain());
    let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
    rows.join("\n")
}

#[test]
fn headings_paragraphs_and_lists_stand_apart() {
    let text = "# Title\nSome words that are wrapped here.\n\n- one\n- two\n  - inner item\n\n1. first\n2. second\n\nend";
    insta::assert_snapshot!(shown(text, 20), @r"
    Title

    Some words that are
    wrapped here.

    • one
    • two
      • inner item

    1. first
    2. second

    end
    ");
}

#[test]
fn quotations_rules_and_links_say_what_they_are() {
    let text = "> quoted words\n> and more\n\n---\n\n[docs](https://example.org/a) and <https://example.org/b> ~~gone~~ `code`";
    insta::assert_snapshot!(shown(text, 50), @"
    │ quoted words and more

    ────────────────────────────────────────

    docs (https://example.org/a) and
    https://example.org/b gone code
    ");
}

#[test]
fn code_keeps_its_shape_and_long_lines_go_on_below() {
    let text = "Before\n```rust\nfn main() {\n\tlet x = 1;\n}\n```\nafter";
    insta::assert_snapshot!(shown(text, 14), @"
    Before

      fn main() {
          let x =
        1;
      }

    after
    ");
}

#[test]
fn tables_fit_into_the_room_there_is() {
    let text = "| name | what it does |\n|---|---|\n| read | reads a file from the disk |\n| `ls` | lists |";
    insta::assert_snapshot!(shown(text, 60), @r"
    name │ what it does
    ─────┼───────────────────────────
    read │ reads a file from the disk
    ls   │ lists
    ");
    insta::assert_snapshot!(shown(text, 22), @r"
    name │ what it does
    ─────┼────────────────
    read │ reads a file
         │ from the disk
    ls   │ lists
    ");
    insta::assert_snapshot!(shown(text, 8), @"
    name:
    read
    what it
    does:
    reads a
    file
    from the
    disk
    name: ls
    what it
    does:
    lists
    ");
}

#[test]
fn html_and_escape_codes_are_text() {
    let text = "<b>bold</b> \x1b[31mred\n\n<script>alert(1)</script>\n";
    let shown = shown(text, 60);
    assert!(shown.contains("<b>bold</b> ␛[31mred"), "{shown}");
    assert!(shown.contains("<script>alert(1)</script>"), "{shown}");
}

#[test]
fn code_is_coloured_by_its_language() {
    let text = "```python\n# note\ndef f(): return 'a'\n```\n";
    let rows = rows(text, 60, Theme::dark(), &mut CodeCache::default());
    let comment = rows[0].spans.iter().find(|span| span.content.contains("# note")).unwrap();
    assert_eq!(comment.style, Theme::dark().style(Role::Thinking));
}

#[test]
fn only_the_last_block_still_changes() {
    assert_eq!(stable_end("one paragraph that grows"), 0);
    let text = "first\n\nsecond par";
    assert_eq!(&text[stable_end(text)..], "second par");
    let text = "intro\n\n```rust\nlet x = 1;\n\nlet y";
    assert_eq!(&text[stable_end(text)..], "```rust\nlet x = 1;\n\nlet y");
    let text = "- a\n- b\n\n- c";
    assert_eq!(stable_end(text), 0);
}

#[test]
fn nothing_in_a_text_makes_it_panic() {
    let deep = ">".repeat(3_000) + "x";
    let list = (0..200).map(|n| " ".repeat(n) + "- x\n").collect::<String>();
    let table = format!("|{}\n|{}\n|{}", "a|".repeat(500), "-|".repeat(500), "b|".repeat(500));
    for text in [&deep, &list, &table, "```\n", "|a|\n|-|", "[x](", "![](\x07)", "\u{202e}a\u{0}"] {
        for columns in [1, 4, 40, 200] {
            let rows = rows(text, columns, Theme::dark(), &mut CodeCache::plain());
            assert!(rows.iter().all(|row| !row.to_string().chars().any(char::is_control)));
        }
    }
}

#[test]
fn however_deep_a_text_is_nested_every_level_costs_the_same() {
    let quotes = ">".repeat(250_000) + "x";
    let breaks = ">".repeat(100_000) + &"x\\\n".repeat(10_000);
    let items = "- ".repeat(50_000) + "x";
    let start = std::time::Instant::now();
    for (text, count) in [(quotes, 1), (breaks, 10_000), (items, 1)] {
        assert_eq!(rows(&text, 80, Theme::dark(), &mut CodeCache::plain()).len(), count);
    }
    // One step per pair of levels would take minutes; this takes a second or two.
    assert!(start.elapsed() < std::time::Duration::from_secs(30), "{:?}", start.elapsed());
}
