//! The head of the page: title, time, numbers and branches of the session.
//!
//! stats, branches -> **card** -> template

use session_tree::{Node, Role, Session, Timestamp};
use session_view::numbers::{count, money, tokens};
use session_view::{Branch, Stats};

use crate::error::Result;
use crate::text::head;

/// How many branches the card lists.
const MOST_BRANCHES: usize = 12;
/// How many characters of the name of a branch or a model are shown.
const LONGEST_NAME: usize = 100;

/// The content of the head of the page.
pub(crate) struct Card {
    /// The name of the session, or how it begins.
    pub(crate) title: String,
    /// When it began and ended.
    pub(crate) when: String,
    /// Its working directory.
    pub(crate) place: String,
    /// Names with values, such as what it cost.
    pub(crate) facts: Vec<Fact>,
    /// The branches, the current one first.
    pub(crate) branches: Vec<BranchLine>,
    /// How many branches are not listed.
    pub(crate) more_branches: usize,
    /// How many branches there are, in words.
    pub(crate) branch_count: String,
    /// All tips.
    pub(crate) tips: Vec<Tip>,
    /// The name of the branch on which the session ends.
    pub(crate) leaf_name: String,
}

/// The end of a branch.
pub(crate) struct Tip {
    /// The tip.
    pub(crate) node: Node,
    /// The state of its branch, in a word.
    pub(crate) state: &'static str,
    /// The name of its branch.
    pub(crate) name: String,
    /// The entry that it was merged into.
    pub(crate) into: Option<Node>,
}

/// A name with a value.
pub(crate) struct Fact {
    /// The name.
    pub(crate) name: &'static str,
    /// The value.
    pub(crate) value: String,
    /// More about it; may be empty.
    pub(crate) note: String,
}

/// A branch in the list.
pub(crate) struct BranchLine {
    /// The id of its tip, as an address has it.
    pub(crate) tip: String,
    /// Its name.
    pub(crate) name: String,
    /// Its state, in a word that is also its class.
    pub(crate) state: &'static str,
    /// The same in words.
    pub(crate) fate: String,
    /// The number of its prompts.
    pub(crate) size: String,
}

impl Card {
    /// Makes the card from the stats of all entries.
    pub(crate) fn of(session: &Session, figures: &Stats) -> Result<Self> {
        let branches = session_view::branches(session)?;
        let visible = || branches.iter().filter(|branch| !branch.is_hidden || branch.is_current);
        let current = visible().filter(|branch| branch.is_current);
        let others = visible().filter(|branch| !branch.is_current);
        let listed = current.clone().chain(others).take(MOST_BRANCHES);
        Ok(Card {
            title: title(session)?,
            when: when(figures, session.header().timestamp()),
            place: session.header().cwd().unwrap_or_default().into_owned(),
            facts: facts(figures),
            branches: listed.map(|branch| BranchLine::of(session, branch)).collect::<Result<_>>()?,
            more_branches: visible().count().saturating_sub(MOST_BRANCHES),
            branch_count: count(visible().count(), "branch"),
            tips: branches.iter().map(Tip::of).collect(),
            leaf_name: current.clone().map(|branch| branch.name.clone()).next().unwrap_or_default(),
        })
    }
}

/// Returns the state of a branch, in a word.
fn state(branch: &Branch) -> &'static str {
    match branch {
        Branch { is_current: true, .. } => "current",
        Branch { merged_into: Some(_), .. } => "merged",
        Branch { ends_in_error: true, .. } => "failed",
        Branch { .. } => "left",
    }
}

impl Tip {
    fn of(branch: &Branch) -> Self {
        let name = head(&branch.name, LONGEST_NAME).0.to_owned();
        Self { node: branch.tip, state: state(branch), name, into: branch.merged_into }
    }
}

impl BranchLine {
    fn of(session: &Session, branch: &Branch) -> Result<Self> {
        let state = state(branch);
        let fate = match branch {
            Branch { is_current: true, ends_in_error: true, .. } => {
                "the session ends here, with an error".into()
            }
            Branch { is_current: true, .. } => "the session ends here".into(),
            Branch { merged_into: Some(into), .. } => {
                format!("merged into “{}”", session.branch_name(*into)?)
            }
            Branch { ends_in_error: true, .. } => "ended in an error, then abandoned".into(),
            Branch { .. } => "abandoned".into(),
        };
        let size = count(branch.turns, "prompt");
        Ok(Self { tip: in_address(branch.tip_id.as_str()), name: branch.name.clone(), state, fate, size })
    }
}

/// Returns the name of a session; without one, its first prompt.
pub fn title(session: &Session) -> Result<String> {
    if let Some(name) = session.name().filter(|name| !name.trim().is_empty()) {
        return Ok(name.to_owned());
    }
    if let Some(title) = session.header().title().filter(|title| !title.trim().is_empty()) {
        return Ok(title.into_owned());
    }
    let tree = session.tree();
    let prompt = tree.nodes().find(|node| tree.role(*node) == Some(Role::User));
    let name = prompt.map(|prompt| session.branch_name(prompt)).transpose()?.unwrap_or_default();
    Ok(if name.is_empty() { "A session".to_owned() } else { name })
}

fn when(figures: &Stats, created: Option<Timestamp>) -> String {
    let first = figures.earliest.or(created);
    match (first, figures.latest) {
        (Some(first), Some(latest)) if day(first) != day(latest) => {
            format!("{} – {}", day(first), day(latest))
        }
        (Some(first), Some(latest)) if clock(first) != clock(latest) => {
            format!("{} {} – {} UTC", day(first), clock(first), clock(latest))
        }
        (Some(first), _) => format!("{} {} UTC", day(first), clock(first)),
        (None, _) => String::new(),
    }
}

/// The day of a time: `2025-12-09`.
fn day(time: Timestamp) -> String {
    time.to_string().split('T').next().unwrap_or_default().to_owned()
}

/// The minute of a time: `2025-12-09 14:02`.
pub(crate) fn minute(time: Timestamp) -> String {
    format!("{} {}", day(time), clock(time))
}

fn clock(time: Timestamp) -> String {
    time.to_string().split('T').nth(1).and_then(|clock| clock.get(..5)).unwrap_or_default().to_owned()
}

fn facts(figures: &Stats) -> Vec<Fact> {
    let fact = |name, value: String, note: String| Fact { name, value, note };
    let failures = counts(&[(figures.failed, "failed"), (figures.aborted, "aborted")]);
    let mut facts = vec![
        fact("Prompts", figures.turns.to_string(), String::new()),
        fact("Answers", figures.messages(Role::Assistant).count.to_string(), failures),
        fact("Tool calls", figures.tool_calls().to_string(), counts(&[(figures.tool_errors(), "failed")])),
    ];
    let usage = figures.usage;
    if usage.total > 0 {
        let note = format!("{} in, {} out", tokens(usage.sent()), tokens(usage.output));
        facts.push(fact("Tokens", tokens(usage.total), note));
    }
    if usage.cost > 0.0 {
        facts.push(fact("Cost", money(usage.cost), String::new()));
    }
    let models: Vec<&str> =
        figures.models.keys().map(|name| head(model_name(name), LONGEST_NAME).0).collect();
    if let Some(first) = models.first() {
        let others = models[1..].join(", ");
        facts.push(fact(if others.is_empty() { "Model" } else { "Models" }, (*first).to_owned(), others));
    }
    facts
}

/// Writes a text as a part of an address, as `encodeURIComponent` does: ids are any text.
fn in_address(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn model_name(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, model)| model)
}

/// Lists numbers that are not zero: `2 failed, 1 aborted`.
fn counts(numbers: &[(usize, &str)]) -> String {
    let some = numbers.iter().filter(|(number, _)| *number > 0);
    some.map(|(number, what)| format!("{number} {what}")).collect::<Vec<_>>().join(", ")
}
