//! Branching as older extensions call it: in the same file, or into a new one.

use std::path::PathBuf;

use session_tree::{ForkPosition, Options};

use super::{Applied, BranchHereRequest, ForkRequest};
use crate::agent::{Agent, SummaryRequest};
use crate::cancel::Cancel;
use crate::error::Result;

/// What came of branching.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BranchResult {
    /// The text of the prompt that was selected; empty if it was none.
    pub selected_text: String,
    /// Whether somebody did not want it; nothing changed.
    pub cancelled: bool,
    /// The file of the new session, if there is one.
    pub new_session_file: Option<PathBuf>,
    /// Whether the branch is in the same file.
    pub in_place: bool,
}

impl Agent {
    /// Goes to an entry of this session, where another attempt can begin.
    pub async fn branch_in_place(
        &mut self,
        target: &str,
        summary: SummaryRequest,
        cancel: &Cancel,
    ) -> Result<BranchResult> {
        let request = BranchHereRequest { target: target.to_owned(), exact: false, summary };
        let planned = self.plan_branch_here(&request)?;
        let result = self.go(planned, cancel).await?;
        Ok(BranchResult {
            selected_text: result.editor_text.unwrap_or_default(),
            cancelled: result.cancelled,
            new_session_file: None,
            in_place: true,
        })
    }

    /// Goes on in a new session that ends before a prompt.
    pub async fn branch(&mut self, prompt: &str, options: Options, cancel: &Cancel) -> Result<BranchResult> {
        let request =
            ForkRequest { position: Some(ForkPosition::Before), ..ForkRequest::at(prompt.to_owned()) };
        let fork = self.plan_fork(&request)?;
        Ok(match self.fork(fork, options, cancel).await? {
            Applied::Cancelled(_) => BranchResult { cancelled: true, ..BranchResult::default() },
            Applied::Done(forked) => BranchResult {
                selected_text: forked.editor_text.unwrap_or_default(),
                cancelled: false,
                new_session_file: forked.session_file,
                in_place: false,
            },
        })
    }
}
