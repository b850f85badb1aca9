//! Every state of the selector at every size, to be looked at.

use super::*;

/// The greeter with what else a session may hold: settings, a failed tool, a message of an extension, a compaction.
const WORKSHOP: &str = r#"
    mo model anthropic/claude-sonnet-4-5
    u1<mo user Build a CLI that greets people
    a1<u1 assistant Done: the CLI greets people, and it does so in a sentence that is longer than a narrow screen.
    l1<a1 label a1 baseline
    u2<a1 user Add a --verbose flag
    ! {"type":"message","id":"c2","parentId":"u2","timestamp":"2025-01-01T00:00:12.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"k","name":"bash","arguments":{"command":"cargo test --all-features --workspace"}}],"stopReason":"toolUse"}}
    ! {"type":"message","id":"r2","parentId":"c2","timestamp":"2025-01-01T00:00:13.000Z","message":{"role":"toolResult","toolCallId":"k","toolName":"bash","content":[{"type":"text","text":"error: test failed"}],"isError":true}}
    a2<r2 assistant The flag is there, one test fails.
    g2<a2 custom_message git-checkpoint Checkpoint abc123 saved
    u3<a1 user Actually, use Python instead
    k3<u3 compaction keep=u3 Built a CLI
    a3<k3 assistant Here is the port.
    u4<a1 user 次は日本語で挨拶してください
    a4<u4 assistant はい。
    m1<g2 marker g2
"#;

type Steps = fn(&mut Bench);

const STATES: [(&str, Steps); 20] = [
    ("default", |_| {}),
    ("no_tools", |bench| filter(bench, Filter::NoTools)),
    ("user_only", |bench| filter(bench, Filter::UserOnly)),
    ("labeled_only", |bench| filter(bench, Filter::LabeledOnly)),
    ("all", |bench| filter(bench, Filter::All)),
    ("turns", |bench| filter(bench, Filter::Turns)),
    ("branches", |bench| filter(bench, Filter::Branches)),
    ("errors", |bench| filter(bench, Filter::Errors)),
    ("files", |bench| filter(bench, Filter::Files)),
    ("search", |bench| {
        bench.type_keys("flag");
    }),
    ("search_by_call", |bench| {
        bench.type_keys("workspace");
    }),
    ("search_without_hits", |bench| {
        bench.type_keys("zzz");
    }),
    ("folded", |bench| {
        bench.select("u2").press(&[Action::TreeFold]);
    }),
    ("root_folded", |bench| {
        bench.select("u1").press(&[Action::TreeFold]);
    }),
    ("label_edited", |bench| {
        bench.select("a1").press(&[Action::TreeEditLabel]);
    }),
    ("label_times", |bench| {
        bench.select("a1").press(&[Action::TreeLabelTimes]);
    }),
    ("preview", |bench| {
        bench.select("r2");
        if !bench.tree.view.shows_preview() {
            bench.press(&[Action::TreePreview]);
        }
    }),
    ("turn_opened", |bench| {
        filter(bench, Filter::Turns);
        bench.select("u2").press(&[Action::CursorRight]);
    }),
    ("notice", |bench| {
        bench.press(&[Action::TreeSource]);
    }),
    ("help", |bench| {
        bench.press(&[Action::Help]);
    }),
];

fn filter(bench: &mut Bench, filter: Filter) {
    bench.tree.change_filter(&bench.session, filter);
}

fn at_all_sizes(theme: Theme, steps: Steps) -> String {
    screen::at_all_sizes(|width, height| {
        let mut bench = Bench::new(WORKSHOP).sized(width, height);
        bench.theme = theme;
        bench.shown();
        steps(&mut bench);
        bench.shown()
    })
}

#[test]
fn every_state_at_every_size() {
    for (name, steps) in STATES {
        insta::assert_snapshot!(name, at_all_sizes(Theme::plain(), steps));
    }
}

#[test]
fn every_state_is_the_same_with_colours() {
    for (name, steps) in STATES {
        let plain = at_all_sizes(Theme::plain(), steps);
        assert_eq!(at_all_sizes(Theme::dark(), steps), plain, "{name}");
        assert_eq!(at_all_sizes(Theme::light(), steps), plain, "{name}");
    }
}

#[test]
fn every_state_can_be_shown_in_ascii() {
    let ascii = Theme::plain().with_charset(session_view::Charset::Ascii);
    for (name, steps) in STATES {
        let shown = at_all_sizes(ascii, steps);
        assert!(shown.is_ascii(), "{name}: {shown}");
    }
    insta::assert_snapshot!("ascii", at_all_sizes(ascii, |_| {}));
}
