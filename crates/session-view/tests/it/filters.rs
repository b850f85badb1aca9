//! Rows that each filter shows.

use session_tree::Session;
use session_view::{Filter, Outline, OutlineOptions};
use testkit::drawing::{EVERY_TYPE, session_text};

#[test]
fn filters_decide_which_types_have_a_row() {
    let drawing = format!("{EVERY_TYPE}\n    l9<u9 label u3 here\n");
    let session = Session::from_bytes(session_text(&drawing)).unwrap();
    let rows = |filter| {
        let outline = Outline::new(&session, OutlineOptions { filter, ..OutlineOptions::default() });
        let mut ids: Vec<String> =
            (0..outline.len()).map(|row| session.tree().id(outline.node(row).unwrap()).to_string()).collect();
        ids.sort();
        ids.join(" ")
    };
    let table = [
        (Filter::Default, "a2 b6 c4 k8 m7 r5 s8 u1 u3 u9 w1"),
        (Filter::UserOnly, "u1 u3 u9"),
        (Filter::LabeledOnly, "u3"),
        (Filter::All, "a2 b6 c4 k8 l9 m7 p8 r5 s8 t8 u1 u3 u9 w1 x8"),
    ];
    for (filter, expected) in table {
        assert_eq!(rows(filter), expected, "{filter:?}");
    }
}
