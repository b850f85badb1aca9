//! Summaries without a model: an extract of the prompts and answers in a summary request.
//!
//! Used by the offline model, and by compaction if the model fails. The caller adds the lists of files.

use super::clipped_line;

/// The maximum length of the goal, and of any other item, in characters.
const MAX_GOAL: usize = 600;
const MAX_ITEM: usize = 200;
/// The maximum number of items; the oldest are left out.
const MAX_ITEMS: usize = 40;

/// The heading of the items. A previous extract ends with it, so a new one continues its list.
const ITEMS: &str = "## Prompts and answers\n";
const NOTE: &str = "(This summary is an extract of the conversation; no model wrote it.)";

/// The first words of the prompts that represent a compaction and a branch summary.
const COMPACTION: &str = "The conversation history before this point was compacted";
const BRANCH: &str = "The following is a summary of a branch that this conversation came back from";

/// Writes a summary from the text of a summary request. Returns `None` if the text is not such a request.
pub fn offline_summary(request: &str) -> Option<String> {
    let (_, rest) = request.split_once("<conversation>\n")?;
    let (conversation, rest) = rest.rsplit_once("\n</conversation>")?;
    let mut extract = Extract::default();
    if let Some(previous) = between(rest, "<previous-summary>\n", "\n</previous-summary>") {
        extract.continue_from(previous);
    }
    for (title, text) in messages(conversation) {
        match title {
            "User" => extract.add_prompt(text.trim()),
            "Assistant" => extract.add_answer(text.trim()),
            _ => {}
        }
    }
    Some(extract.into_text())
}

/// A summary under construction.
#[derive(Default)]
struct Extract {
    /// The part before the items: the goal, or the summary to continue.
    head: Option<String>,
    /// A prompt and the first line of its last answer, or an item of an earlier extract.
    items: Vec<(String, Option<String>)>,
    /// True if the last item is a prompt of this conversation.
    has_prompt: bool,
}

impl Extract {
    fn continue_from(&mut self, summary: &str) {
        let summary = summary.split("\n<read-files>").next().unwrap_or_default();
        let summary = summary.split("\n<modified-files>").next().unwrap_or_default();
        let (head, items) = summary.rsplit_once(ITEMS).unwrap_or((summary, ""));
        self.head = Some(head.trim_end().to_owned()).filter(|head| !head.is_empty());
        let items = items.lines().filter_map(|line| line.strip_prefix("- "));
        self.items.extend(items.map(|item| (item.to_owned(), None)));
    }

    fn add_prompt(&mut self, text: &str) {
        match between(text, "<summary>\n", "</summary>") {
            Some(summary) if text.starts_with(COMPACTION) => self.continue_from(summary),
            Some(summary) if text.starts_with(BRANCH) => {
                let goal = summary.split_once("## Goal\n").map_or(summary, |(_, goal)| goal);
                self.items.push((format!("(another branch) {}", first_line(goal)), None));
            }
            _ => {
                self.head
                    .get_or_insert_with(|| format!("## Goal\n{}\n\n{NOTE}", clipped_line(text, MAX_GOAL)));
                self.items.push((clipped_line(text, MAX_ITEM), None));
                self.has_prompt = true;
            }
        }
    }

    fn add_answer(&mut self, text: &str) {
        if !self.has_prompt {
            self.items.push(("(an earlier prompt)".to_owned(), None));
            self.has_prompt = true;
        }
        if let Some((_, answer)) = self.items.last_mut().filter(|_| !text.is_empty()) {
            *answer = Some(first_line(text));
        }
    }

    fn into_text(self) -> String {
        let head = self.head.unwrap_or_else(|| NOTE.to_owned());
        let newest = &self.items[self.items.len().saturating_sub(MAX_ITEMS)..];
        let item = |(prompt, answer): &(String, Option<String>)| match answer {
            Some(answer) => format!("- {prompt} -> {answer}"),
            None => format!("- {prompt}"),
        };
        let items: Vec<String> = newest.iter().map(item).collect();
        format!("{head}\n\n{ITEMS}{}", if items.is_empty() { "(none)".to_owned() } else { items.join("\n") })
    }
}

/// Splits a conversation into messages, each with the title that starts it: `[User]: …`.
fn messages(conversation: &str) -> Vec<(&str, &str)> {
    const TITLES: [&str; 5] =
        ["User", "Assistant", "Assistant thinking", "Assistant tool calls", "Tool result"];
    let title_at = |at: usize| {
        let is_first = at == 0 || conversation[..at].ends_with("\n\n");
        let begins = |title: &&str| {
            conversation[at + 1..].strip_prefix(*title).is_some_and(|rest| rest.starts_with("]: "))
        };
        TITLES.into_iter().find(|title| is_first && begins(title)).map(|title| (at, title))
    };
    let starts: Vec<(usize, &str)> =
        conversation.match_indices('[').filter_map(|(at, _)| title_at(at)).collect();
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([conversation.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((at, title), end)| (*title, &conversation[at + title.len() + 4..end]))
        .collect()
}

fn between<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(begin)?;
    rest.rsplit_once(end).map(|(inside, _)| inside)
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    clipped_line(line.unwrap_or_default(), MAX_ITEM)
}
