//! Where two branches decided differently, read from the text of a merge.

use session_tree::Conflict;

/// The heading that conflicts stand under.
pub(super) const HEADING: &str = "Conflicts with the current branch";

/// The most conflicts that are read, and the most characters of each part: models may say anything.
const MOST: usize = 50;
const LONGEST: usize = 500;

/// Reads the conflicts that a text lists, as `- topic | here: … | there: …`; an item in other words is a topic.
pub(super) fn read(text: &str) -> Vec<Conflict> {
    let is_heading = |line: &&str| line.trim_start_matches('#').trim().eq_ignore_ascii_case(HEADING);
    let mut lines = text.lines().skip_while(|line| !(line.starts_with('#') && is_heading(line)));
    lines.next();
    let section = lines.take_while(|line| !line.starts_with('#') && !line.starts_with('<'));
    let items = section.filter_map(|line| line.trim().strip_prefix(['-', '*']).map(str::trim));
    items.filter(|item| !is_nothing(item)).map(conflict).take(MOST).collect()
}

fn conflict(item: &str) -> Conflict {
    let mut conflict = Conflict { topic: String::new(), ours: String::new(), theirs: String::new() };
    for part in item.split(" | ") {
        match part.split_once(':') {
            Some((who, what)) if who.trim().eq_ignore_ascii_case("here") => conflict.ours = clipped(what),
            Some((who, what)) if who.trim().eq_ignore_ascii_case("there") => conflict.theirs = clipped(what),
            _ if conflict.topic.is_empty() => conflict.topic = clipped(part.trim_matches(['*', ' '])),
            _ => {}
        }
    }
    conflict
}

fn is_nothing(item: &str) -> bool {
    let item = item.trim_matches(['(', ')', '.', ' ']);
    item.is_empty() || item.eq_ignore_ascii_case("none")
}

fn clipped(text: &str) -> String {
    text.trim().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<[String; 3]> {
        read(text).into_iter().map(|found| [found.topic, found.ours, found.theirs]).collect()
    }

    #[test]
    fn items_of_the_section_become_conflicts() {
        let text = "## Goal\n- not | here: x\n\n## Conflicts with the current branch\n\
            - **Concurrency** | here: goroutines | There: channels: buffered\n- the licence\n- (none)\n\n\
            ## Not applied here\n- main.go\n";
        assert_eq!(
            told(text),
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
    fn what_a_model_says_without_end_is_cut() {
        let text = format!("## {HEADING}\n{}", format!("- {}\n", "x".repeat(9_000)).repeat(999));
        let found = read(&text);
        assert_eq!((found.len(), found[0].topic.len()), (MOST, LONGEST));
    }
}
