//! The JSON of rows, branches and statistics.

use serde_json::{Value as Json, json, to_value};
use session_tree::Session;
use session_view::{Filter, Outline, OutlineOptions, Stats};

use testkit::drawing::session_text;

const TREE: &str = "u1 user one\na2<u1 assistant two\nu3<a2 user left\nl4<u3 label u3 here\nu5<a2 user right";

fn session() -> Session {
    Session::from_bytes(session_text(TREE)).unwrap()
}

#[test]
fn a_row_has_ids_and_no_drawing() {
    let session = session();
    let rows = |filter| {
        let outline = Outline::new(&session, OutlineOptions { filter, ..OutlineOptions::default() });
        to_value(outline.rows(&session, 0..9).unwrap()).unwrap()
    };
    let row = rows(Filter::Default)[3].clone();
    let expected = json!({
        "id": "u3", "parentId": "a2", "type": "message", "role": "user", "depth": 2, "indent": 1, "onPath": false,
        "isLeaf": false, "leafBelow": false, "label": "here", "labelTimestamp": "2025-01-01T00:00:04.000Z",
        "timestamp": "2025-01-01T00:00:03.000Z", "text": "user: left", "isError": false,
    });
    assert_eq!(row, expected);
    assert_eq!(rows(Filter::Turns)[0]["turn"]["number"], 1);
}

#[test]
fn branches_and_statistics_use_the_names_of_session_files() {
    let session = session();
    let table = to_value(session_view::branch_table(&session).unwrap()).unwrap();
    assert_eq!((&table[0]["tipId"], &table[0]["branchPointId"]), (&json!("u5"), &json!("a2")));
    assert_eq!((&table[0]["mergedInto"], &table[0]["model"]), (&Json::Null, &Json::Null));
    let stats = to_value(Stats::of(&session).unwrap()).unwrap();
    assert_eq!((&stats["answers"], &stats["usage"]["totalTokens"]), (&json!(1), &json!(10)));
    assert_eq!(stats["models"]["prov/mod"]["answers"], 1);
}
