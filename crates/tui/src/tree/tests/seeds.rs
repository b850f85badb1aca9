//! The tables of the descriptions that the selector follows, as tables: keys, filters, display, selection.
//!
//! Each row names the description it comes from.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use super::*;

/// A session with every kind of row: a fork, a label, a custom entry, a custom message, a compaction.
const SESSION: &str = r#"
    u1 user Hello, can you help
    a1<u1 assistant Of course! I can
    u2<a1 user Let's try approach A
    a2<u2 assistant For approach A
    c1<a2 compaction keep=u2 what happened
    u3<c1 user That worked
    u4<a1 user Actually, approach B
    a4<u4 assistant For approach B
    x1<u3 custom state {"n":1}
    g1<u3 custom_message note A note of an extension
    l1<g1 label a1 start
    b1<l1 user Later
    m<u3 marker u3
"#;

const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const NONE: KeyModifiers = KeyModifiers::NONE;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

/// The effect of a key on a selector whose cursor is on `a1`.
#[derive(Debug, PartialEq, Eq)]
enum Does {
    Moves(&'static str),
    Filters(Filter),
    Selects(&'static str),
    Cancels,
    Labels,
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

fn press(bench: &mut Bench, event: &Event) -> Option<Outcome> {
    let input = bench.tree.input(&Keymap::default(), event).expect("the key is bound");
    bench.tree.update(&bench.session, &input)
}

#[test]
fn keys_do_what_the_tables_say() {
    use Does::*;
    let table = [
        ("000, 004: Up", key(KeyCode::Up, NONE), Moves("u1")),
        ("000, 004: Down", key(KeyCode::Down, NONE), Moves("u2")),
        ("000, 004: Enter", key(KeyCode::Enter, NONE), Selects("a1")),
        ("000, 004: Escape", key(KeyCode::Esc, NONE), Cancels),
        ("000: Ctrl+C", key(KeyCode::Char('c'), CTRL), Cancels),
        ("000, 004: Ctrl+U", key(KeyCode::Char('u'), CTRL), Filters(Filter::UserOnly)),
        ("000, 004: Ctrl+O", key(KeyCode::Char('o'), CTRL), Filters(Filter::All)),
        ("002: Shift+L", key(KeyCode::Char('L'), SHIFT), Labels),
    ];
    for (name, event, does) in table {
        let mut bench = Bench::new(SESSION);
        bench.select("a1");
        let outcome = press(&mut bench, &event);
        match does {
            Moves(id) => assert_eq!((outcome, bench.selected().as_str()), (None, id), "{name}"),
            Selects(id) => assert_eq!(outcome, Some(Outcome::Select(id.into())), "{name}"),
            Cancels => assert_eq!(outcome, Some(Outcome::Cancel), "{name}"),
            Filters(filter) => {
                assert_eq!((outcome, bench.tree.filter()), (None, filter), "{name}");
                // "Toggle": the same key goes back.
                assert_eq!(press(&mut bench, &event), None, "{name}");
                assert_eq!(bench.tree.filter(), Filter::Default, "{name}");
            }
            Labels => {
                assert_eq!(outcome, None, "{name}");
                for _ in 0.."start".len() {
                    press(&mut bench, &key(KeyCode::Backspace, NONE));
                }
                bench.type_keys("done");
                let set = Outcome::SetLabel("a1".into(), Some("done".to_owned()));
                assert_eq!(press(&mut bench, &key(KeyCode::Enter, NONE)), Some(set), "{name}");
            }
        }
    }
}

#[test]
fn down_walks_the_tree_depth_first() {
    // 000: depth-first, children oldest first; 002: the active branch comes first.
    let mut bench = Bench::new(SESSION);
    bench.press(&[Action::SelectFirst]);
    let mut walked = vec![bench.selected()];
    for _ in 1..bench.tree.outline.len() {
        press(&mut bench, &key(KeyCode::Down, NONE));
        walked.push(bench.selected());
    }
    assert_eq!(walked, ["u1", "a1", "u2", "a2", "c1", "u3", "g1", "b1", "u4", "a4"]);
}

#[test]
fn filters_show_what_the_tables_say() {
    let table = [
        // 000: the default hides `label` and `custom` entries.
        ("default", Filter::Default, "u1 a1 u2 a2 c1 u3 g1 b1 u4 a4"),
        ("no-tools", Filter::NoTools, "u1 a1 u2 a2 c1 u3 g1 b1 u4 a4"),
        ("user-only", Filter::UserOnly, "u1 u2 u3 b1 u4"),
        ("labeled-only", Filter::LabeledOnly, "a1"),
        // 000: they show in the mode that shows everything.
        ("all", Filter::All, "u1 a1 u2 a2 c1 u3 x1 g1 l1 b1 m u4 a4"),
    ];
    for (name, filter, rows) in table {
        assert_eq!(filter.name(), name);
        let bench = Bench::filtered(SESSION, filter);
        let mut shown: Vec<String> = bench.rows().split(' ').map(str::to_owned).collect();
        let mut wanted: Vec<&str> = rows.split(' ').collect();
        shown.sort();
        wanted.sort_unstable();
        assert_eq!(shown, wanted, "{name}");
    }
}

#[test]
fn rows_look_as_the_tables_say() {
    let mut bench = Bench::new(SESSION).sized(80, 40);
    let shown = bench.shown();
    for row in [
        "user: Hello, can you help",
        "[start] assistant: Of course! I can",
        "[compaction:",
        "user: That worked ← active",
    ] {
        assert!(shown.contains(row), "{row}:\n{shown}");
    }
    assert_eq!(shown.matches("← active").count(), 1, "{shown}");
    // 000: half of the terminal, and the lines around the list.
    let long: String = (1..100)
        .map(|n| format!("u{n}{} user {n}\n", if n > 1 { format!("<u{}", n - 1) } else { String::new() }))
        .collect();
    let bench = Bench::new(&long);
    for rows in [24, 40, 60] {
        assert_eq!(bench.tree.height_for(rows), rows / 2 + 5, "{rows}");
    }
}

#[test]
fn a_selection_goes_where_the_tables_say() {
    // 000, 002, 004: entry, new leaf, text in the editor.
    let table = [
        ("user message", "u2", Some("a1"), Some("Let's try approach A")),
        ("root user message", "u1", None, Some("Hello, can you help")),
        ("custom message", "g1", Some("u3"), Some("A note of an extension")),
        ("assistant", "a4", Some("a4"), None),
        ("compaction", "c1", Some("c1"), None),
        // Different on purpose: an entry without conversation stands for the nearest one with it.
        ("custom entry", "x1", Some("u3"), None),
    ];
    let session = Session::from_bytes(session_text(SESSION)).unwrap();
    for (name, target, leaf, text) in table {
        let plan = session.plan_navigation(target).unwrap();
        let new_leaf = plan.new_leaf.as_ref().map(|id| id.as_str());
        assert_eq!((new_leaf, plan.editor_text.as_deref()), (leaf, text), "{name}");
    }
    // 002: selecting the current leaf does nothing.
    let mut session = session;
    session.branch("a4").unwrap();
    assert!(session.plan_navigation("a4").unwrap().is_noop);
}
