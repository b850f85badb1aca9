use super::*;

fn text(notice: Option<Notice>) -> Option<(String, String)> {
    match notice {
        Some(Notice::Notify { message, level }) => Some((message, level)),
        _ => None,
    }
}

#[test]
fn a_flood_is_collapsed_with_its_count_and_its_worst_level() {
    let (mut inner, now) = (Inner::default(), Instant::now());
    let shown = (0..BURST).map(|_| inner.decide("info", now)).collect::<Vec<_>>();
    assert!(shown.iter().all(|decision| *decision == Decision::Show));
    assert_eq!(inner.decide("info", now), Decision::HoldFirst);
    for level in ["warning", "error", "info"] {
        assert_eq!(inner.decide(level, now), Decision::Hold);
    }
    // There would be room again, but the order has to stay.
    assert_eq!(inner.decide("info", now + COLLAPSE), Decision::Hold);
    let told = "5 more notifications of the extension web are in the log".to_owned();
    assert_eq!(text(inner.collapse("web")), Some((told, "error".to_owned())));
    assert!(inner.collapse("web").is_none());
    assert_eq!(inner.decide("info", now + COLLAPSE), Decision::Show);
}

#[test]
fn a_steady_trickle_is_shown() {
    let (mut inner, now) = (Inner::default(), Instant::now());
    assert!((0..200).all(|turn| inner.decide("info", now + REFILL * turn) == Decision::Show));
}

#[test]
fn room_comes_back_one_by_one() {
    let (mut inner, now) = (Inner::default(), Instant::now());
    assert!((0..BURST).all(|_| inner.decide("info", now) == Decision::Show));
    assert_eq!(inner.decide("info", now + REFILL), Decision::Show);
    assert_eq!(inner.decide("info", now + REFILL), Decision::HoldFirst);
}
