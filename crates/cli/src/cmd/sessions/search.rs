//! Which sessions fit a query, best first.

use session_tree::{Catalog, Relevance, SessionQuery, SessionSummary};

use crate::ui::Progress;

/// Shorter words are scattered over every name.
const SHORTEST_SCATTERED: usize = 3;

/// How well a session fits; the better one is the smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Name,
    Elsewhere,
    Scattered,
}

/// Finds the sessions that fit a query: by their name, by anything that was said, or by letters scattered over their
/// name. Among equals the order stays.
pub(super) fn find(
    catalog: &Catalog,
    sessions: Vec<SessionSummary>,
    query: &SessionQuery,
    text: &str,
) -> Vec<SessionSummary> {
    if query.is_empty() {
        return sessions;
    }
    let mut progress = Progress::new("searching", sessions.len());
    let total = sessions.len();
    let mut found: Vec<(Fit, SessionSummary)> = Vec::new();
    for (at, session) in sessions.into_iter().enumerate() {
        if let Some(fit) = fit(catalog, query, text, &session) {
            found.push((fit, session));
        }
        progress.set(at + 1, total);
    }
    found.sort_by_key(|(fit, _)| *fit);
    found.into_iter().map(|(_, session)| session).collect()
}

fn fit(catalog: &Catalog, query: &SessionQuery, text: &str, session: &SessionSummary) -> Option<Fit> {
    // What was said is read only if the row does not answer the question.
    let by_row = query.matches(session, None);
    let by_text = || {
        let said = query.asks_for_text().then(|| catalog.text(&session.path).ok()).flatten()?;
        query.matches(session, Some(&said))
    };
    match by_row.or_else(by_text) {
        Some(Relevance::Name) => Some(Fit::Name),
        Some(Relevance::Elsewhere) => Some(Fit::Elsewhere),
        None => is_scattered(text, session.name.as_deref()?).then_some(Fit::Scattered),
    }
}

/// Tells whether the letters of every word occur in a name, in their order. Only plain words are scattered.
fn is_scattered(text: &str, name: &str) -> bool {
    let is_plain = !text.contains([':', '"']);
    let name = name.to_lowercase();
    is_plain && text.split_whitespace().all(|word| occurs_scattered(&word.to_lowercase(), &name))
}

fn occurs_scattered(word: &str, name: &str) -> bool {
    let mut letters = name.chars();
    word.chars().count() >= SHORTEST_SCATTERED && word.chars().all(|c| letters.any(|letter| letter == c))
}

#[cfg(test)]
mod tests {
    use super::is_scattered;

    #[test]
    fn letters_of_plain_words_may_be_scattered_over_a_name() {
        assert!(is_scattered("grtr cli", "Greeter CLI"));
        assert!(!is_scattered("rtrg", "Greeter CLI"));
        assert!(!is_scattered("gc", "Greeter CLI"), "too short to mean anything");
        assert!(!is_scattered("re:g.*r", "re:g.*r"), "a pattern is no word");
    }
}
