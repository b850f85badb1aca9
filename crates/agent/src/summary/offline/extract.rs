//! A summary in the usual sections, picked from what was said.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::conversation::{Call, Exchange, SummaryRequest};
use super::previous::{NOTHING, Sections};

/// The most characters of a goal, and of any other item.
const LONGEST_GOAL: usize = 600;
const LONGEST_ITEM: usize = 200;
/// The most items of a section; the latest are kept.
const MOST_ITEMS: usize = 40;
/// The most items that are guessed from how something is said.
const MOST_GUESSES: usize = 8;

const WISHES: &[&str] =
    &["must", "never", "always", "do not", "don't", "only", "prefer", "avoid", "without", "should"];
const DECISIONS: &[&str] =
    &["decided", "instead of", "because", "chose", "i'll use", "i will use", "let's use", "switched to"];
const PLANS: &[&str] = &["next", "todo", "to do", "remaining", "then i"];

/// Makes a summary.
pub(super) fn summary(request: &SummaryRequest) -> String {
    let previous: Vec<Sections<'_>> =
        request.previous.iter().map(|summary| Sections::read(summary)).collect();
    let kept =
        |heading: &str| previous.iter().flat_map(|sections| sections.items(heading)).collect::<Vec<_>>();
    let found = Found::of(request);
    let mut out = String::new();
    let old_goal = previous
        .iter()
        .find_map(|sections| Some(sections.first_items("Goal")).filter(|goal| !goal.is_empty()));
    section(&mut out, "## Goal", "", &goal(request, old_goal.unwrap_or_default()));
    let is_merge = request.contested.is_some();
    if !is_merge {
        let wishes = joined(kept("Constraints & Preferences"), found.wishes);
        section(&mut out, "## Constraints & Preferences", "- ", &wishes);
    }
    out.push_str("## Progress\n");
    section(&mut out, "### Done", "- [x] ", &joined(kept("Done"), found.done));
    section(&mut out, "### In Progress", "- [ ] ", &or(found.open.clone(), kept("In Progress"), request));
    section(&mut out, "### Blocked", "- ", &or(found.failed.clone(), kept("Blocked"), request));
    section(&mut out, "## Key Decisions", "- ", &joined(kept("Key Decisions"), found.decisions));
    if !is_merge {
        section(&mut out, "## Next Steps", "1. ", &next_steps(&found.open, &found.failed, found.plans));
    }
    section(&mut out, "## Critical Context", "- ", &context(request, &kept("Critical Context")));
    if let Some(contested) = &request.contested {
        section(&mut out, "## Conflicts with the current branch", "- ", &conflicts(contested));
        section(&mut out, "## Not applied here", "- ", &not_applied(request));
    }
    out.trim_end().to_owned()
}

/// What can be told from a conversation.
#[derive(Debug, Default)]
struct Found {
    wishes: Vec<String>,
    done: Vec<String>,
    open: Vec<String>,
    failed: Vec<String>,
    decisions: Vec<String>,
    plans: Vec<String>,
}

impl Found {
    fn of(request: &SummaryRequest) -> Self {
        let mut found = Self::default();
        for exchange in &request.exchanges {
            found.add(exchange);
        }
        let last = request.exchanges.last();
        found.open.extend(last.filter(|last| !last.is_answered).map(asked));
        found.failed = last.map(failures).unwrap_or_default();
        found.plans = last.map(|last| telling(&last.answers, PLANS)).unwrap_or_default();
        found
    }

    fn add(&mut self, exchange: &Exchange) {
        self.wishes.extend(telling(std::slice::from_ref(&exchange.prompt), WISHES));
        self.decisions.extend(telling(&exchange.answers, DECISIONS));
        if exchange.is_answered {
            let answer = exchange.answers.last().map(|answer| clip(first_line(answer), LONGEST_ITEM));
            self.done.push(format!("{} -> {}", asked(exchange), answer.unwrap_or_default()));
        }
        self.done.extend(exchange.calls.iter().filter_map(deed));
    }
}

fn asked(exchange: &Exchange) -> String {
    if exchange.prompt.is_empty() {
        "(an earlier prompt)".into()
    } else {
        clip(&exchange.prompt, LONGEST_ITEM)
    }
}

/// The goal is what was asked first; an older goal goes before.
fn goal(request: &SummaryRequest, kept: Vec<String>) -> Vec<String> {
    let first = request.exchanges.iter().find(|exchange| !exchange.prompt.is_empty());
    let asked = first.map(|exchange| clip(&exchange.prompt, LONGEST_GOAL)).into_iter().collect();
    let goal = if kept.is_empty() { asked } else { kept };
    goal.into_iter().take(MOST_GUESSES).collect()
}

fn next_steps(open: &[String], failed: &[String], plans: Vec<String>) -> Vec<String> {
    let goes_on = open.iter().map(|prompt| format!("Go on with: {prompt}"));
    let repairs = failed.iter().map(|failure| format!("Look at what failed: {failure}"));
    goes_on.chain(repairs).chain(plans).collect()
}

fn context(request: &SummaryRequest, kept: &[String]) -> Vec<String> {
    let is_old = |item: &String| item.starts_with(READ) || item.starts_with(CHANGED) || item == NO_MODEL;
    let others = kept.iter().filter(|item| !is_old(item)).cloned().collect();
    let branches = request.branches.iter().map(|summary| branch(summary));
    let found = files(request, kept).into_iter().chain(branches).chain(focused(request)).collect();
    let mut items = joined(others, found);
    items.push(NO_MODEL.into());
    items
}

/// What both sides of a merge changed. Decisions that differ cannot be told without understanding.
fn conflicts(contested: &[String]) -> Vec<String> {
    let conflict = |path: &String| {
        format!("{} | here: changed since the two parted | there: changed, too", clip(path, LONGEST_ITEM))
    };
    contested.iter().take(MOST_ITEMS).map(conflict).collect()
}

/// What the merged branch changed, as far as tools tell; what a command did cannot be told from its text.
fn not_applied(request: &SummaryRequest) -> Vec<String> {
    let calls = request.exchanges.iter().flat_map(|exchange| &exchange.calls);
    joined(Vec::new(), calls.filter(|call| call.name != "bash").filter_map(deed).collect())
}

/// What a branch that was left was about.
fn branch(summary: &str) -> String {
    let goal = Sections::read(summary).first_items("Goal");
    let goal = goal.first().map_or_else(|| first_line(summary), String::as_str);
    format!("Explored on another branch: {}", clip(goal, LONGEST_ITEM))
}

/// The files that were read and changed, now and before.
fn files(request: &SummaryRequest, kept: &[String]) -> Vec<String> {
    let listed = |title: &'static str| {
        let lists = kept.iter().filter_map(move |item| item.strip_prefix(title));
        lists.flat_map(|list| list.split(", "))
    };
    let touched = |names: &'static [&'static str]| {
        let calls = request.exchanges.iter().flat_map(|exchange| &exchange.calls);
        calls.filter(move |call| names.contains(&&*call.name)).filter_map(|call| call.text("path"))
    };
    let changed: BTreeSet<&str> = listed(CHANGED).chain(touched(&["write", "edit"])).collect();
    let read = listed(READ).chain(touched(&["read"])).filter(|path| !changed.contains(path)).collect();
    let list = |(title, paths): (&str, BTreeSet<&str>)| {
        (!paths.is_empty()).then(|| format!("{title}{}", paths.into_iter().collect::<Vec<_>>().join(", ")))
    };
    [(READ, read), (CHANGED, changed)].into_iter().filter_map(list).collect()
}

const READ: &str = "Files read: ";
const CHANGED: &str = "Files changed: ";

const NO_MODEL: &str = "This summary was picked from the conversation without a model (`offshoot/offline`)";

/// What was said about the focus.
fn focused(request: &SummaryRequest) -> Option<String> {
    let focus = request.focus.as_ref()?;
    let words: Vec<String> =
        focus.split_whitespace().filter(|word| word.len() > 3).map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said =
        request.exchanges.iter().flat_map(|exchange| [&exchange.prompt].into_iter().chain(&exchange.answers));
    let found = telling(&said.cloned().collect::<Vec<_>>(), &words).join("; ");
    let found = if found.is_empty() { NOTHING.to_owned() } else { found };
    Some(format!("Asked to look at {}: {found}", clip(focus, LONGEST_ITEM)))
}

/// What a call did, unless it failed; looking at something is not worth a line.
fn deed(call: &Call) -> Option<String> {
    let only_looked = matches!(call.name.as_str(), "read" | "ls" | "find" | "grep");
    let has_failed = call.result.as_deref().is_some_and(has_failed);
    (!only_looked && !has_failed).then(|| attempt(call))
}

/// What a call was to do.
fn attempt(call: &Call) -> String {
    match (call.name.as_str(), call.text("path"), call.text("command")) {
        (name, _, Some(command)) => format!("{name} `{}`", clip(command, LONGEST_ITEM)),
        (name, Some(path), None) => format!("{name} {path}"),
        (name, None, None) => name.to_owned(),
    }
}

/// The calls of an exchange that failed and were not made again with success.
fn failures(exchange: &Exchange) -> Vec<String> {
    let failed = |call: &Call| call.result.as_deref().is_some_and(has_failed);
    let is_same = |one: &Call, other: &Call| one.name == other.name && one.arguments == other.arguments;
    let is_last =
        |place: usize, call: &Call| !exchange.calls[place + 1..].iter().any(|later| is_same(call, later));
    let calls = exchange.calls.iter().enumerate();
    let lost = calls.filter(|(place, call)| failed(call) && is_last(*place, call));
    lost.map(|(_, call)| {
        let reason = clip(call.result.as_deref().map(telling_line).unwrap_or_default(), LONGEST_ITEM);
        format!("{}: {reason}", attempt(call))
    })
    .collect()
}

fn has_failed(result: &str) -> bool {
    let begin = first_line(result).to_lowercase();
    begin.starts_with("error")
        || result.contains("Command exited with code ")
        || result.contains("(command cancelled)")
}

/// The line of a result that tells most: one that speaks of an error, else the first.
fn telling_line(result: &str) -> &str {
    result.lines().find(|line| line.to_lowercase().contains("error")).unwrap_or_else(|| first_line(result))
}

/// Sentences that contain one of the words, as whole words.
fn telling(texts: &[String], words: &[&str]) -> Vec<String> {
    let is_telling = |sentence: &&str| {
        let padded = format!(" {} ", sentence.to_lowercase().replace(|char: char| !is_word(char), " "));
        words.iter().any(|word| padded.contains(&format!(" {word} ")))
    };
    let sentences = texts.iter().flat_map(|text| text.lines()).flat_map(|line| line.split_inclusive(". "));
    let told = sentences
        .filter(is_telling)
        .map(|sentence| clip(sentence.trim_start_matches(['-', '*', '#', ' ']), LONGEST_ITEM));
    told.take(MOST_GUESSES).collect()
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '\''
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// One line of at most so many characters.
fn clip(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Old items, then new ones, each once, the latest if there are too many.
fn joined(kept: Vec<String>, found: Vec<String>) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for item in kept.into_iter().chain(found) {
        if !items.contains(&item) {
            items.push(item);
        }
    }
    items.split_off(items.len().saturating_sub(MOST_ITEMS))
}

/// What is open now; what was open before counts only if nothing has been said since.
fn or(found: Vec<String>, kept: Vec<String>, request: &SummaryRequest) -> Vec<String> {
    if request.exchanges.is_empty() { kept } else { found }
}

fn section(out: &mut String, heading: &str, bullet: &str, items: &[String]) {
    let _ = writeln!(out, "{heading}");
    for (place, item) in items.iter().enumerate() {
        let _ = match bullet {
            "1. " => writeln!(out, "{}. {item}", place + 1),
            _ => writeln!(out, "{bullet}{item}"),
        };
    }
    if items.is_empty() {
        let _ = writeln!(out, "{}{NOTHING}", if bullet.is_empty() || bullet == "1. " { "" } else { "- " });
    }
    out.push('\n');
}
