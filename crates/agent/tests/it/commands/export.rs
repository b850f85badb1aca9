//! Exports: parts of the session as new files.

use offshoot_agent::command::{ExportRequest, ExportScope};
use serde_json::json;

use super::{TestAgent, ids, open, options};

const TREE: &str = "
    a user Build a CLI
    b<a assistant ok
    c<b user Use Node
    d<c assistant node it is
    e<b user Use Go
";

#[test]
fn a_branch_a_path_or_a_subtree_become_a_file() {
    let test = TestAgent::draw(TREE, vec![]);
    for (scope, expected) in [
        (ExportScope::Branch, vec!["a", "b", "c", "d"]),
        (ExportScope::Path, vec!["a", "b", "c"]),
        (ExportScope::Subtree, vec!["c", "d"]),
    ] {
        let file = test.dir.path().join(format!("{scope:?}.jsonl"));
        let request = ExportRequest { entry: "c".into(), scope, file: file.clone() };
        let export = test.agent.plan_export(&request).unwrap();
        test.agent.export_branch(&export, options()).unwrap();
        let made = open(&file);
        assert_eq!(ids(&made), expected);
        assert_eq!(made.header().parent_session().unwrap(), test.file().to_string_lossy());
    }
    assert_eq!(test.appended(TREE), [json!(null); 0]);
}

#[test]
fn a_file_that_is_there_is_never_replaced() {
    let test = TestAgent::draw(TREE, vec![]);
    let file = test.dir.path().join("there");
    let request = ExportRequest { entry: "c".into(), file: file.clone(), ..ExportRequest::default() };
    let export = test.agent.plan_export(&request).unwrap();
    std::fs::write(&file, "mine").unwrap();
    assert!(test.agent.plan_export(&request).is_err());
    assert!(test.agent.export_branch(&export, options()).is_err());
    assert_eq!(std::fs::read(file).unwrap(), b"mine");
}
