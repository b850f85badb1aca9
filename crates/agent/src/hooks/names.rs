//! Names of events: those that the agent uses, and older ones that extensions may still use.

/// Older names, and the event that each of them means.
///
/// Whoever listens under an older name hears of the event once, under the name that was asked for.
pub const ALIASES: [(&str, &str); 9] = [
    ("session_before_branch", "session_before_fork"),
    ("session_branch", "session_fork"),
    ("before_compact", "session_before_compact"),
    ("session.compacting", "session_before_compact"),
    ("compact", "session_compact"),
    ("before_switch", "session_before_switch"),
    ("switch", "session_switch"),
    ("before_tree", "session_before_tree"),
    ("tree", "session_tree"),
];

/// Returns all names of an event, its own first.
pub(super) fn names_of(event: &str) -> impl Iterator<Item = &str> {
    let older = ALIASES.iter().filter(move |(_, meant)| *meant == event).map(|(older, _)| *older);
    std::iter::once(event).chain(older)
}

/// Tells whether a handler that fails keeps from being done what it was asked about: what was to be guarded is not let
/// through because the guard fell over.
pub(super) fn is_guarded(event: &str) -> bool {
    matches!(event, "tool_call" | "user_bash")
}
