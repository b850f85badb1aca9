//! Summaries without a model: picked from the text of a summary request.
//!
//! Used by the offline model, and by compaction when the model makes no summary.

mod conversation;
mod extract;
mod previous;

use conversation::SummaryRequest;

/// Makes a summary from the text of a summary request, without a model.
///
/// Picks facts that need no understanding: the first prompt, questions and answers, what tools did, which files they
/// touched. Returns `None` if the text is not a summary request.
pub fn offline_summary(request: &str) -> Option<String> {
    SummaryRequest::read(request).map(|request| extract::summary(&request))
}
