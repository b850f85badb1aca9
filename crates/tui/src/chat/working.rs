//! The activity of the agent, the queue, and the last notice.
//!
//! Knows no clock: who draws says how much time has passed.

use std::time::Duration;

use ratatui::text::{Line, Span};

use super::highlight::CodeCache;
use super::item::{Item, ItemStyle, Tone, rows};
use crate::keys::{Action, Keymap};
use crate::paint;
use crate::spinner;
use crate::theme::{Role, Theme};

/// How many waiting messages show.
const MOST_QUEUED: usize = 4;
/// The most rows of a notice.
const NOTICE_ROWS: usize = 4;
/// How long a notice stays.
const NOTICE_STAYS: Duration = Duration::from_secs(12);
/// How long a hint about a key stays.
const HINT_STAYS: Duration = Duration::from_secs(2);

/// The current activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// The model answers, or tools run.
    Turn,
    /// A branch is summed up.
    Summary,
    /// The context is compacted.
    Compaction,
    /// A shell command of the user runs.
    Shell,
    /// Something else, in words.
    Other(String),
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// The text.
    pub text: String,
    /// Whether it waits until all is done, not only the tools that run.
    pub is_follow_up: bool,
}

/// The activity, the queue and the last notice.
#[derive(Debug, Clone, Default)]
pub struct Working {
    activity: Option<(Activity, Duration)>,
    retry: Option<Retry>,
    /// Messages that wait, in their order.
    pub queue: Vec<Queued>,
    /// The text while a model works, in place of the default.
    pub words: Option<String>,
    /// True if the row of the activity is hidden.
    pub is_hidden: bool,
    /// The frames of the sign of work and the time of each, in place of the default.
    pub frames: Option<(Vec<String>, Duration)>,
    notice: Option<Notice>,
}

#[derive(Debug, Clone)]
struct Notice {
    tone: Tone,
    text: String,
    /// The time when it disappears.
    until: Duration,
}

#[derive(Debug, Clone)]
struct Retry {
    attempt: u32,
    at: Duration,
    reason: String,
}

impl Working {
    /// Begins an activity.
    pub fn begin(&mut self, activity: Activity, now: Duration) {
        self.retry = None;
        self.activity = Some((activity, now));
    }

    /// Ends the activity.
    pub fn end(&mut self) {
        self.activity = None;
        self.retry = None;
    }

    /// Returns the activity.
    pub fn activity(&self) -> Option<&Activity> {
        self.activity.as_ref().map(|(activity, _)| activity)
    }

    /// Notes that the model is asked again at a time.
    pub fn retry(&mut self, attempt: u32, at: Duration, reason: String) {
        self.retry = Some(Retry { attempt, at, reason });
    }

    /// Notes that the model answers again.
    pub fn retried(&mut self) {
        self.retry = None;
    }

    /// Shows a notice for a while, or until the next one.
    pub fn tell(&mut self, tone: Tone, text: impl Into<String>, now: Duration) {
        self.notice = Some(Notice { tone, text: text.into(), until: now + NOTICE_STAYS });
    }

    /// Shows a hint about a key for a moment.
    pub fn hint(&mut self, text: impl Into<String>, now: Duration) {
        self.notice = Some(Notice { tone: Tone::Info, text: text.into(), until: now + HINT_STAYS });
    }

    /// Forgets the last notice.
    pub fn hush(&mut self) {
        self.notice = None;
    }

    /// Returns true if something moves and needs frames.
    pub fn moves(&self) -> bool {
        self.activity.is_some() || self.notice.is_some()
    }

    /// Returns the rows.
    pub fn rows(
        &mut self,
        theme: Theme,
        keymap: &Keymap,
        columns: usize,
        now: Duration,
    ) -> Vec<Line<'static>> {
        self.notice.take_if(|notice| now > notice.until);
        let mut rows = Vec::new();
        rows.extend(self.activity_row(theme, keymap, now));
        rows.extend(self.queue_rows(theme, keymap));
        rows.extend(self.notice_rows(theme, columns));
        rows.into_iter().map(|row| paint::shorten(row, columns)).collect()
    }

    fn activity_row(&self, theme: Theme, keymap: &Keymap, now: Duration) -> Option<Line<'static>> {
        let (activity, since) = self.activity.as_ref().filter(|_| !self.is_hidden)?;
        let frame = match &self.frames {
            Some((frames, each)) => {
                let count = now.as_millis() / each.as_millis().max(1);
                frames.get(count as usize % frames.len().max(1)).cloned().unwrap_or_default()
            }
            None => spinner::sign(theme, (now.as_millis() / 100) as usize).to_string(),
        };
        let frame = if frame.is_empty() { frame } else { format!("{frame} ") };
        // When the wait is over, the request runs again.
        let retry = self.retry.as_ref().filter(|retry| retry.at > now);
        let words = match (retry, activity) {
            (Some(retry), _) => {
                let left = retry.at.saturating_sub(now).as_secs_f64().ceil();
                &format!("{} · asking again in {left:.0} s (attempt {})", retry.reason, retry.attempt)
            }
            (None, Activity::Turn) => self.words.as_deref().unwrap_or("Working…"),
            (None, Activity::Summary) => "Summarizing the branch…",
            (None, Activity::Compaction) => "Compacting the context…",
            (None, Activity::Shell) => "Running…",
            (None, Activity::Other(words)) => words,
        };
        let role = if retry.is_some() { Role::Warning } else { Role::Muted };
        let seconds = now.saturating_sub(*since).as_secs();
        let stop = keymap.name(Action::Interrupt).unwrap_or_default();
        Some(Line::from(vec![
            paint::span(&frame, theme.style(Role::Accent)),
            paint::span(words, theme.style(role)),
            Span::styled(format!("  {seconds} s · "), theme.style(Role::Dim)),
            Span::styled(stop, theme.style(Role::Key)),
            Span::styled(" stops", theme.style(Role::Dim)),
        ]))
    }

    fn queue_rows(&self, theme: Theme, keymap: &Keymap) -> Vec<Line<'static>> {
        let row = |queued: &Queued| {
            let kind = if queued.is_follow_up { "then: " } else { "next: " };
            let first = queued.text.lines().next().unwrap_or_default();
            Line::from(vec![
                Span::styled(format!("  {kind}"), theme.style(Role::Dim)),
                paint::span(first, theme.style(Role::Muted)),
            ])
        };
        let mut rows: Vec<Line<'static>> = self.queue.iter().take(MOST_QUEUED).map(row).collect();
        let more = self.queue.len().saturating_sub(MOST_QUEUED);
        if more > 0 {
            rows.push(Line::styled(format!("  and {more} more"), theme.style(Role::Dim)));
        }
        if let (false, Some(key)) = (self.queue.is_empty(), keymap.name(Action::Dequeue)) {
            let key = paint::ascii_arrows(theme, key);
            rows.push(Line::from(vec![
                Span::styled(format!("  {key}"), theme.style(Role::Key)),
                Span::styled(" takes them back", theme.style(Role::Dim)),
            ]));
        }
        rows
    }

    fn notice_rows(&self, theme: Theme, columns: usize) -> Vec<Line<'static>> {
        let Some(Notice { tone, text, .. }) = &self.notice else { return Vec::new() };
        let item = Item::Notice(*tone, text.clone());
        let mut rows = rows(&item, columns, &ItemStyle::new(theme), &mut CodeCache::plain());
        rows.truncate(NOTICE_ROWS);
        rows
    }
}

#[cfg(test)]
mod tests;
