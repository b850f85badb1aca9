//! The planted bugs fit the current source.

use std::fs;

use offshoot_proof::part::Part;
use offshoot_proof::planted::{Check, PATCHES, workspace_root};

#[test]
fn every_patch_applies_to_exactly_one_place_and_names_an_existing_check() {
    for patch in PATCHES {
        let source = fs::read_to_string(workspace_root().join(patch.file)).unwrap();
        let patched = patch.apply(&source).unwrap_or_else(|reason| panic!("{reason}"));
        assert_ne!(patched, source, "{}", patch.bug);
        if let Check::Part(name, _) = patch.noticed_by {
            assert!(Part::named(name).is_some(), "{name}");
        }
    }
}

#[test]
fn a_stale_or_ambiguous_patch_is_refused() {
    let patch = &PATCHES[0];
    assert!(patch.apply("").unwrap_err().starts_with("stale patch"));
    assert!(patch.apply(&patch.before.repeat(2)).unwrap_err().contains("2 times"));
}
