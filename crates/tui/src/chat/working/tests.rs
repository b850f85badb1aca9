use super::*;

fn shown(working: &mut Working, columns: usize, now: u64) -> String {
    let rows = working.rows(Theme::dark(), &Keymap::default(), columns, Duration::from_secs(now));
    rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn it_says_what_is_done_how_long_and_how_to_stop() {
    let mut working = Working::default();
    assert_eq!(shown(&mut working, 80, 0), "");
    working.begin(Activity::Turn, Duration::from_secs(1));
    assert_eq!(shown(&mut working, 80, 4), "⠋ Working…  3 s · Esc stops");
    working.end();
    assert_eq!(shown(&mut working, 80, 4), "");
}

#[test]
fn a_retry_counts_down() {
    let mut working = Working::default();
    working.begin(Activity::Turn, Duration::ZERO);
    working.retry(2, Duration::from_secs(8), "the service is busy".into());
    let said = "the service is busy · asking again in 4 s (attempt 2)";
    assert!(shown(&mut working, 90, 4).contains(said));
    working.retried();
    assert!(shown(&mut working, 90, 9).contains("Working…"));
}

#[test]
fn messages_that_wait_show_in_their_order() {
    let mut working = Working::default();
    working.queue.push(Queued { text: "also test it\nplease".into(), is_follow_up: false });
    working.queue.push(Queued { text: "then commit".into(), is_follow_up: true });
    insta::assert_snapshot!(shown(&mut working, 80, 0), @r"
      next: also test it
      then: then commit
      Alt+↑ takes them back
    ");
}

#[test]
fn a_notice_goes_after_a_while() {
    let mut working = Working::default();
    working.tell(Tone::Success, "moved; /back returns", Duration::from_secs(1));
    assert_eq!(shown(&mut working, 80, 5), "✓ moved; /back returns");
    assert_eq!(shown(&mut working, 80, 60), "");
    assert!(!working.moves());
}
