//! Screens of the selector in every state, at an ordinary, a large and a tiny size.

use super::*;

#[test]
fn an_ordinary_screen() {
    insta::assert_snapshot!(Bench::new(GREETER).shown(), @"
     Session Tree  17 entries · 4 branches                          filter: default
     ⌕ type to search
    ────────────────────────────────────────────────────────────────────────────────
      • user: Build a CLI that greets people
      • [read: src/main.rs:10-49]
      • [baseline] assistant: Done: the CLI greets people.
      ├⊟ • [branch summary]: Tried Python, too slow
      │     • user: Use Go instead
      │     • assistant: Creating Go CLI...
      │     ├⊟ • user: Now with goroutines
    › │     │     • assistant: Finished. ← active
      │     └⊟ user: No, channels
      │           assistant: Channels it is.
      ├⊟ user: Add a --verbose flag
      │     assistant: Added the flag.
      └⊟ user: Actually, use Python instead
            assistant: Here is the port.





      (8/14)
     Enter go · ? all keys · Esc back · Ctrl+B go, no summary · Shift+L label
    ");
}

#[test]
fn a_large_screen_has_a_preview_beside_the_list() {
    insta::assert_snapshot!(Bench::new(GREETER).sized(120, 40).shown(), @"
     Session Tree  17 entries · 4 branches                                                                  filter: default
     ⌕ type to search
    ────────────────────────────────────────────────────────────────────────┬───────────────────────────────────────────────
      • user: Build a CLI that greets people                                │ #a5  assistant  00:00
      • [read: src/main.rs:10-49]                                           │ branch: Use Go instead
      • [baseline] assistant: Done: the CLI greets people.                  │ context here: 10 tok
      ├⊟ • [branch summary]: Tried Python, too slow                         │
      │     • user: Use Go instead                                          │ Finished.
      │     • assistant: Creating Go CLI...                                 │
      │     ├⊟ • user: Now with goroutines                                  │
    › │     │     • assistant: Finished. ← active                           │
      │     └⊟ user: No, channels                                           │
      │           assistant: Channels it is.                                │
      ├⊟ user: Add a --verbose flag                                         │
      │     assistant: Added the flag.                                      │
      └⊟ user: Actually, use Python instead                                 │
            assistant: Here is the port.                                    │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
                                                                            │
      (8/14)
     Enter go · ? all keys · Esc back · Ctrl+B go, no summary · Shift+L label · Alt+O filter · Ctrl+← fold · Tab preview
    ");
}

#[test]
fn a_tiny_screen() {
    insta::assert_snapshot!(Bench::new(GREETER).sized(40, 12).shown(), @"
     Session Tree  17 entr… filter: default
     ⌕ type to search
    ────────────────────────────────────────
      │     • user: Use Go instead
      │     • assistant: Creating Go CLI...
      │     ├⊟ • user: Now with goroutines
    › │     │     • assistant: Fin… ← active
      │     └⊟ user: No, channels
      │           assistant: Channels it is.
      ├⊟ user: Add a --verbose flag
      (8/14)
     Enter go · ? all keys · Esc back
    ");
}

#[test]
fn the_preview_goes_below_where_there_is_no_room_beside() {
    let mut bench = Bench::new(GREETER);
    bench.select("r1").press(&[Action::TreePreview]);
    insta::assert_snapshot!(bench.shown(), @r#"
     Session Tree  17 entries · 4 branches                          filter: default
     ⌕ type to search
    ────────────────────────────────────────────────────────────────────────────────
      • user: Build a CLI that greets people
    › • [read: src/main.rs:10-49]
      • [baseline] assistant: Done: the CLI greets people.
      ├⊟ • [branch summary]: Tried Python, too slow
      │     • user: Use Go instead
      │     • assistant: Creating Go CLI...
      │     ├⊟ • user: Now with goroutines
      │     │     • assistant: Finished. ← active
      │     └⊟ user: No, channels
      │           assistant: Channels it is.
    ── preview ─────────────────────────────────────────────────────────────────────
     #r1  toolResult  00:00
     branch: Build a CLI that greets people
     context here: 959 tok

     ● read src/main.rs:10-49
     │ fn main() {
     │     println!("hello");
     │ }
      (2/14)
     Enter go · ? all keys · Esc back · Ctrl+B go, no summary · Shift+L label
    "#);
}

#[test]
fn the_turn_view() {
    insta::assert_snapshot!(Bench::filtered(GREETER, Filter::Turns).sized(80, 14).shown(), @"
     Session Tree  17 entries · 4 branches                            filter: turns
     ⌕ type to search
    ────────────────────────────────────────────────────────────────────────────────
      • 1 Build a CLI that greets people                  1 tool   960 tok  $0.002
      • [baseline] assistant: Done: the CLI greets people.
      ├⊟ • 2 Use Go instead                                         10 tok
    › │  ├─ • 3 Now with goroutines ← active below                  10 tok
      │  └─ 3 No, channels                                          10 tok
      ├─ 2 Add a --verbose flag                                     10 tok
      └─ 2 Actually, use Python instead                             10 tok


      (4/7) [turns]
     Enter go · ? all keys · Esc back · Ctrl+B go, no summary · Shift+L label
    ");
}

#[test]
fn everything_folded_and_a_leaf_that_is_hidden() {
    let mut bench = Bench::filtered(GREETER, Filter::UserOnly).sized(80, 14);
    bench.select("u4").press(&[Action::TreeFold]);
    insta::assert_snapshot!(bench.shown(), @"
     Session Tree  17 entries · 4 branches                        filter: user-only
     ⌕ type to search
    ────────────────────────────────────────────────────────────────────────────────
      • user: Build a CLI that greets people
    › ├⊞ • user: Use Go instead ← active below
      ├─ user: Add a --verbose flag
      └─ user: Actually, use Python instead





      (2/4) [user]
     Enter go · ? all keys · Esc back · Ctrl+B go, no summary · Shift+L label
    ");
}

#[test]
fn plain_ascii_where_the_terminal_knows_nothing_else() {
    let mut bench = Bench::new(GREETER).sized(80, 20);
    bench.theme = Theme::plain().with_charset(session_view::Charset::Ascii);
    let shown = bench.shown();
    assert!(shown.is_ascii(), "{shown}");
    insta::assert_snapshot!(shown, @"
     Session Tree  17 entries | 4 branches                          filter: default
     / type to search
    --------------------------------------------------------------------------------
      * user: Build a CLI that greets people
      * [read: src/main.rs:10-49]
      * [baseline] assistant: Done: the CLI greets people.
      |= * [branch summary]: Tried Python, too slow
      |     * user: Use Go instead
      |     * assistant: Creating Go CLI...
      |     |= * user: Now with goroutines
    > |     |     * assistant: Finished. <- active
      |     `= user: No, channels
      |           assistant: Channels it is.
      |= user: Add a --verbose flag
      |     assistant: Added the flag.
      `= user: Actually, use Python instead
            assistant: Here is the port.

      (8/14)
     Enter go | ? all keys | Esc back | Ctrl+B go, no summary | Shift+L label
    ");
}

#[test]
fn a_purpose_is_the_title_and_says_what_enter_does() {
    let purpose = Purpose { title: "Fork from which entry?".into(), confirm: "fork here".into() };
    let options = TreeOptions { purpose: Some(purpose), ..TreeOptions::default() };
    for (width, height) in screen::SIZES {
        let mut bench = Bench::with(GREETER, options.clone()).sized(width, height);
        let shown = bench.shown();
        assert!(shown.starts_with(" Fork from which entry"), "{shown}");
        let keys = shown.trim_end().lines().last().unwrap().to_owned();
        assert!(keys.starts_with(" Enter fork here ·") && keys.contains("Esc back"), "{keys}");
        assert!(!keys.contains("no summary") && !keys.contains("merge"), "{keys}");
        bench.type_keys("greets");
        let shown = bench.shown();
        assert!(shown.contains(" Enter fork here · Esc clear the search"), "{shown}");
    }
}

#[test]
fn deep_rows_move_to_the_left_so_that_their_text_shows() {
    let mut drawing = String::from("n0 user start\n");
    for depth in 1..40 {
        drawing.push_str(&format!("n{depth}<n{} user turn {depth}\n", depth - 1));
        drawing.push_str(&format!("x{depth}<n{} user aside {depth}\n", depth - 1));
    }
    drawing.push_str("m<n39 marker n39");
    let mut bench = Bench::new(&drawing).sized(60, 14);
    insta::assert_snapshot!(bench.list(), @"
      • user: turn 35
      ├⊟ • user: turn 36
      │  ├⊟ • user: turn 37
      │  │  ├⊟ • user: turn 38
    › │  │  │  ├─ • user: turn 39 ← active
      │  │  │  └─ user: aside 39
      │  │  └─ user: aside 38
      │  └─ user: aside 37
      └─ user: aside 36
      (40/79)
     Enter go · ? all keys · Esc back · Ctrl+B go, no summary
    ");
    bench.press(&[Action::SelectFirst]);
    assert!(bench.list().starts_with("› • user: start"), "{}", bench.list());
}

#[test]
fn no_size_is_too_small() {
    for (width, height) in [(0, 0), (1, 1), (3, 2), (10, 3), (200, 1), (2, 60), (101, 4)] {
        let mut bench = Bench::new(GREETER).sized(width, height);
        bench.press(&[Action::TreePreview]);
        bench.shown();
        bench.press(&[Action::Help]);
        bench.shown();
        bench.press(&[Action::SelectCancel, Action::TreeEditLabel]);
        bench.shown();
    }
}

#[test]
fn a_search_on_every_screen() {
    for (width, height) in screen::SIZES {
        let mut bench = Bench::new(GREETER).sized(width, height);
        bench.type_keys("cli");
        let shown = bench.shown();
        assert!(shown.contains("⌕ cli▏") && shown.contains("3 matches"), "{shown}");
        assert!(shown.contains("assistant: Creating"), "{shown}");
    }
    let mut bench = Bench::new(GREETER).sized(40, 12);
    insta::assert_snapshot!(bench.type_keys("cli").shown(), @"
     Session Tree  17 entr… filter: default
     ⌕ cli▏                       3 matches
    ────────────────────────────────────────
      • user: Build a CLI that greets people
      • [baseline] assistant: Done: the CLI…
    › • assistant: Creating … ← active below




      (3/3)
     Enter go · Esc clear the search
    ");
}

#[test]
fn a_label_is_typed_under_the_list() {
    let mut bench = Bench::new(GREETER).sized(80, 12);
    bench.select("a1").press(&[Action::TreeEditLabel]);
    insta::assert_snapshot!(bench.shown(), @"
     Session Tree  17 entries · 4 branches                          filter: default
     ⌕ type to search
    ────────────────────────────────────────────────────────────────────────────────
      • user: Build a CLI that greets people
      • [read: src/main.rs:10-49]
    › • [baseline] assistant: Done: the CLI greets people.
      ├⊟ • [branch summary]: Tried Python, too slow
      │     • user: Use Go instead
      │     • assistant: Creating Go CLI...
    ── Label (empty to remove) ─────────────────────────────────────────────────────
     › baseline
     Enter save · Esc back
    ");
    let mut bench = Bench::new(GREETER).sized(40, 12);
    bench.select("a1").press(&[Action::TreeEditLabel]);
    insta::assert_snapshot!(bench.shown(), @"
     Session Tree  17 entr… filter: default
     ⌕ type to search
    ────────────────────────────────────────
      • user: Build a CLI that greets people
      • [read: src/main.rs:10-49]
    › • [baseline] assistant: Done: the CLI…
      ├⊟ • [branch summary]: Tried Python, …
      │     • user: Use Go instead
      │     • assistant: Creating Go CLI...
    ── Label (empty to remove) ─────────────
     › baseline
     Enter save · Esc back
    ");
}

#[test]
fn the_turn_view_with_an_open_turn_on_small_and_large_screens() {
    let mut bench = Bench::filtered(GREETER, Filter::Turns).sized(40, 12);
    bench.select("u1").press(&[Action::CursorRight]);
    insta::assert_snapshot!(bench.shown(), @"
     Session Tree  17 entrie… filter: turns
     ⌕ type to search
    ────────────────────────────────────────
    › • 1 Build a CLI that greets peo…  1t
      • [read: src/main.rs:10-49]
      • [baseline] assistant: Done: the CLI…
      ├⊟ • [branch summary]: Tried Python, …
      │     • 2 Use Go instead
      │     ├─ • 3 Now wit… ← active below
      │     └─ 3 No, channels
      (1/9) [turns]
     Enter go · ? all keys · Esc back
    ");
    let mut bench = bench.sized(120, 14);
    insta::assert_snapshot!(bench.shown(), @"
     Session Tree  17 entries · 4 branches                                                                    filter: turns
     ⌕ type to search
    ────────────────────────────────────────────────────────────────────────┬───────────────────────────────────────────────
    › • 1 Build a CLI that greets people         1 tool   960 tok  $0.002   │ #u1  user  00:00
      • [read: src/main.rs:10-49]                                           │ branch: Build a CLI that greets people
      • [baseline] assistant: Done: the CLI greets people.                  │ turn: 2 replies, 1 tool, 960 tok, $0.002
      ├⊟ • [branch summary]: Tried Python, too slow                         │
      │     • 2 Use Go instead                             10 tok           │ ▌ Build a CLI that greets people
      │     ├─ • 3 Now with g… ← active below              10 tok           │
      │     └─ 3 No, channels                              10 tok           │
      ├─ 2 Add a --verbose flag                            10 tok           │
      └─ 2 Actually, use Python instead                    10 tok           │
      (1/9) [turns]
     Enter go · ? all keys · Esc back · Ctrl+B go, no summary · Shift+L label · Alt+O filter · Ctrl+← fold · Tab preview
    ");
}

#[test]
fn what_went_wrong_has_a_mark_without_any_colour() {
    let mut bench = Bench::new(
        r#"u user go
        ! {"type":"message","id":"c","parentId":"u","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"k","name":"bash","arguments":{"command":"false"}}],"stopReason":"toolUse"}}
        ! {"type":"message","id":"r","parentId":"c","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"k","toolName":"bash","content":[],"isError":true}}
        ! {"type":"message","id":"e","parentId":"r","timestamp":"2025-01-01T00:00:04.000Z","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"529 overloaded"}}"#,
    )
    .sized(80, 14);
    insta::assert_snapshot!(bench.list(), @"
      • user: go
      • ✗ [bash: false]
    › • ✗ assistant: 529 overloaded ← active
    ");
}
