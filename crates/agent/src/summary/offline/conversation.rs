//! What the agent asks when it wants a summary, read back into what was said.
//!
//! The request is one text: `<conversation>` with lines such as `[User]: …`, maybe `<previous-summary>`, or for a merge
//! `<current-branch>` and `<contested-files>`, instructions, maybe an additional focus. Instructions are for models that
//! understand; here only the focus counts.

use serde_json::{Deserializer, Value as Json};

/// A request for a summary.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct SummaryRequest {
    pub exchanges: Vec<Exchange>,
    /// Summaries of what was before, oldest first.
    pub previous: Vec<String>,
    /// Summaries of branches that were left.
    pub branches: Vec<String>,
    /// Set if the conversation is a branch that is merged: the files that both sides changed.
    pub contested: Option<Vec<String>>,
    pub focus: Option<String>,
}

/// A prompt and what followed it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Exchange {
    /// Empty if the conversation was cut after the prompt.
    pub prompt: String,
    /// What the model said, in order.
    pub answers: Vec<String>,
    pub calls: Vec<Call>,
    /// Whether the last thing that happened was that the model said something.
    pub is_answered: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub name: String,
    pub arguments: Vec<(String, Json)>,
    /// What the tool brought, if it can be told.
    pub result: Option<String>,
}

const TITLES: [&str; 5] =
    ["[User]: ", "[Assistant]: ", "[Assistant thinking]: ", "[Assistant tool calls]: ", "[Tool result]: "];

/// How the agent begins to tell of a compaction, and of a branch.
const COMPACTED: &str = "The conversation history before this point was compacted";
const CAME_BACK: &str = "The following is a summary of a branch that this conversation came back from";

impl SummaryRequest {
    /// Reads a request; `None` if the text is none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once("<conversation>\n")?;
        let (conversation, rest) = rest.rsplit_once("\n</conversation>")?;
        let mut request = Self { focus: focus(rest), ..Self::default() };
        request.previous.extend(between(rest, "<previous-summary>\n", "\n</previous-summary>"));
        request.contested = contested(rest);
        request.read_conversation(conversation);
        Some(request)
    }

    fn read_conversation(&mut self, conversation: &str) {
        let mut open_calls = 0;
        for (title, text) in parts(conversation) {
            match title {
                "[User]: " => self.read_prompt(text),
                "[Assistant]: " => self.read_answer(text),
                "[Assistant tool calls]: " => open_calls = self.read_calls(text),
                "[Tool result]: " => self.read_result(text, &mut open_calls),
                _ => {}
            }
        }
        self.exchanges.iter_mut().for_each(Exchange::forget_unsure_results);
    }

    fn read_prompt(&mut self, text: &str) {
        // What the agent tells the model about compactions and branches comes as a prompt.
        let summary = || between(text, "<summary>\n", "</summary>");
        if let Some(summary) = summary().filter(|_| text.starts_with(COMPACTED)) {
            self.previous.push(summary);
        } else if let Some(summary) = summary().filter(|_| text.starts_with(CAME_BACK)) {
            self.branches.push(summary);
        } else {
            self.exchanges.push(Exchange { prompt: text.trim().into(), ..Exchange::default() });
        }
    }

    fn read_answer(&mut self, text: &str) {
        if !text.trim().is_empty() {
            let exchange = self.last();
            exchange.answers.push(text.trim().into());
            exchange.is_answered = true;
        }
    }

    fn read_calls(&mut self, text: &str) -> usize {
        let calls = calls(text);
        let count = calls.len();
        let exchange = self.last();
        exchange.calls.extend(calls);
        exchange.is_answered = false;
        count
    }

    /// Gives results to calls in order. Results without text are not in the conversation, so the order is sure only if
    /// there are as many as calls.
    fn read_result(&mut self, text: &str, open_calls: &mut usize) {
        let calls = &mut self.last().calls;
        let place = calls.len().checked_sub(*open_calls);
        if let Some(call) = place.filter(|_| *open_calls > 0).and_then(|place| calls.get_mut(place)) {
            call.result = Some(text.to_owned());
            *open_calls -= 1;
        }
    }

    fn last(&mut self) -> &mut Exchange {
        if self.exchanges.is_empty() {
            self.exchanges.push(Exchange::default());
        }
        // Not empty: one was put there if it was.
        let last = self.exchanges.len() - 1;
        &mut self.exchanges[last]
    }
}

impl Exchange {
    fn forget_unsure_results(&mut self) {
        let is_sure = self.calls.len() == 1 || self.calls.iter().all(|call| call.result.is_some());
        if !is_sure {
            self.calls.iter_mut().for_each(|call| call.result = None);
        }
    }
}

impl Call {
    /// Returns an argument that is a text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.arguments.iter().find(|(name, _)| name == key)?.1.as_str()
    }
}

/// Cuts a conversation where a title follows an empty line.
fn parts(conversation: &str) -> Vec<(&'static str, &str)> {
    let title_at = |place: usize| {
        let is_first = place == 0 || conversation[..place].ends_with("\n\n");
        TITLES.into_iter().find(|title| is_first && conversation[place..].starts_with(title))
    };
    let starts = conversation.match_indices('[').filter_map(|(place, _)| Some((place, title_at(place)?)));
    let starts: Vec<(usize, &'static str)> = starts.collect();
    let end = |number: usize| starts.get(number + 1).map_or(conversation.len(), |(place, _)| *place);
    let part = |(number, (place, title)): (usize, &(usize, &'static str))| {
        (*title, conversation[place + title.len()..end(number)].trim_end_matches('\n'))
    };
    starts.iter().enumerate().map(part).collect()
}

/// Reads `name(key=JSON, key=JSON); name()`, as far as it can be read.
fn calls(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some((call, behind)) = call(rest) {
        calls.push(call);
        let Some(next) = behind.strip_prefix("; ") else { break };
        rest = next;
    }
    calls
}

fn call(text: &str) -> Option<(Call, &str)> {
    let (name, mut rest) = text.split_once('(')?;
    let mut arguments = Vec::new();
    loop {
        if let Some(behind) = rest.strip_prefix(')') {
            return Some((Call { name: name.into(), arguments, result: None }, behind));
        }
        let (key, behind) = rest.strip_prefix(", ").unwrap_or(rest).split_once('=')?;
        let mut values = Deserializer::from_str(behind).into_iter::<Json>();
        let value = values.next()?.ok()?;
        rest = &behind[values.byte_offset()..];
        arguments.push((key.to_owned(), value));
    }
}

fn focus(instructions: &str) -> Option<String> {
    let (_, focus) = instructions.rsplit_once("\n\nAdditional focus: ")?;
    Some(focus.trim().to_owned()).filter(|focus| !focus.is_empty())
}

/// The files that both sides of a merge changed; none if it is no merge.
fn contested(instructions: &str) -> Option<Vec<String>> {
    between(instructions, "<current-branch>\n", "\n</current-branch>")?;
    let files = between(instructions, "<contested-files>\n", "\n</contested-files>").unwrap_or_default();
    // Each line tells which version is on the disk, too.
    let path = |line: &str| line.rsplit_once(": ").map_or(line, |(path, _)| path).to_owned();
    Some(files.lines().map(path).collect())
}

fn between(text: &str, begin: &str, end: &str) -> Option<String> {
    let (_, rest) = text.split_once(begin)?;
    rest.rsplit_once(end).map(|(inside, _)| inside.to_owned())
}
