//! Labels: typed, kept, removed, and when they were set.

use super::*;

fn typed(bench: &mut Bench, text: &str) -> Option<Outcome> {
    bench.press(&[Action::TreeEditLabel]);
    bench.press(&[Action::DeleteToLineStart]);
    bench.type_keys(text);
    bench.act(Action::SelectConfirm)
}

#[test]
fn a_label_starts_with_what_it_is_and_is_trimmed() {
    let mut bench = Bench::new(GREETER);
    bench.select("a1").press(&[Action::TreeEditLabel]);
    let shown = bench.shown();
    assert!(shown.contains("Label (empty to remove) ─") && shown.contains(" › baseline"), "{shown}");
    bench.press(&[Action::SelectCancel]);
    let id = bench.session.tree().id(bench.tree.selected.unwrap());
    assert_eq!(
        typed(&mut bench, "  new L? name "),
        Some(Outcome::SetLabel(id.clone(), Some("new L? name".into())))
    );
    assert_eq!(typed(&mut bench, "  "), Some(Outcome::SetLabel(id, None)));
}

#[test]
fn label_times_can_be_shown() {
    let mut bench = Bench::new(GREETER);
    bench.press(&[Action::TreeLabelTimes]);
    let shown = bench.shown();
    assert!(shown.contains("[baseline] 00:00 assistant: Done"), "{shown}");
    assert!(shown.contains("[+label time]"), "{shown}");
}
