use super::*;

fn conflicts(text: &str) -> Vec<[String; 3]> {
    read(text).into_iter().map(|found| [found.topic, found.ours, found.theirs]).collect()
}

#[test]
fn items_of_the_section_become_conflicts() {
    let text = "## Goal\n- not | here: x\n\n## Conflicts with the current branch\n\
        - **Concurrency** | here: goroutines | There: channels: buffered\n- the licence\n- (none)\n\n\
        ## Not applied here\n- main.go\n";
    assert_eq!(
        conflicts(text),
        [
            ["Concurrency", "goroutines", "channels: buffered"].map(String::from),
            ["the licence", "", ""].map(String::from),
        ]
    );
}

#[test]
fn a_text_without_the_section_has_none() {
    for text in [
        "",
        "## Goal\n- x",
        "## Conflicts with the current branch",
        "## Conflicts with the current branch\n(none)",
    ] {
        assert_eq!(read(text), [], "{text}");
    }
}

#[test]
fn long_lists_are_cut() {
    let text = format!("## {HEADING}\n{}", format!("- {}\n", "x".repeat(9_000)).repeat(999));
    let found = read(&text);
    assert_eq!((found.len(), found[0].topic.len()), (MAX_CONFLICTS, MAX_CHARS));
}
