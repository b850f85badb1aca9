use super::*;
use crate::screen;

fn footer() -> Footer {
    Footer {
        cwd: "~/work/greeter".into(),
        git_branch: Some("main".into()),
        session: Some("Greeter CLI".into()),
        branch: Some(BranchPlace { name: "go-attempt".into(), number: 2, count: 4 }),
        input: 52_000,
        output: 3_400,
        cached: 120_000,
        cost: 0.121,
        context: Some(11_400),
        window: 200_000,
        provider: "anthropic".into(),
        model: Some("claude-sonnet-4-5".into()),
        thinking: Some("medium".into()),
        remark: None,
    }
}

fn drawn(footer: &Footer, columns: u16) -> String {
    screen::text(columns, HEIGHT, |area, buf| footer.draw(Theme::dark(), area, buf))
}

#[test]
fn the_footer_fits_every_size() {
    insta::assert_snapshot!(drawn(&footer(), 120), @"
    ~/work/greeter (main) • Greeter CLI                                                              branch 2/4 · go-attempt
    context 5.7% of 200k · $0.12 ↑52k ↓3.4k cached 120k                                 anthropic/claude-sonnet-4-5 • medium
    ");
    insta::assert_snapshot!(drawn(&footer(), 80), @"
    ~/work/greeter (main) • Greeter CLI                      branch 2/4 · go-attempt
    context 5.7% of 200k · $0.12 ↑52k ↓3.4k     anthropic/claude-sonnet-4-5 • medium
    ");
    insta::assert_snapshot!(drawn(&footer(), 40), @"
    ~/work/greeter … branch 2/4 · go-attempt
    context 5.7%… claude-sonnet-4-5 • medium
    ");
}

#[test]
fn a_newcomer_sees_what_is_missing() {
    let footer = Footer { cwd: "~".into(), ..Footer::default() };
    insta::assert_snapshot!(drawn(&footer, 60), @"
    ~
    $0.00 ↑0 ↓0                                 no model: /model
    ");
}

#[test]
fn a_full_context_asks_for_attention() {
    let full = Footer { context: Some(190_000), ..footer() };
    let buffer = screen::buffer(120, 2, |area, buf| full.draw(Theme::dark(), area, buf));
    let red = screen::with_style(&buffer, |style| style.fg == Theme::dark().style(Role::Error).fg);
    assert!(red.contains("context 95.0%"), "{red}");
}
