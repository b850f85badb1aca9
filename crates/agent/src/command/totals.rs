//! Totals: what the branch and the whole file hold and cost.

use session_tree::Figures;

use crate::agent::Agent;
use crate::error::Result;

/// What the branch and the whole file hold in numbers.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Totals {
    /// The path from the root to the leaf.
    pub branch: Figures,
    /// All entries of all branches.
    pub file: Figures,
    /// How many branches there are.
    pub branches: usize,
}

impl Agent {
    /// Counts entries, tokens and cost of the branch and of the whole file.
    pub fn totals(&self) -> Result<Totals> {
        let session = self.session();
        Ok(Totals {
            branch: session.figures_of_path(session.leaf())?,
            file: session.figures_of_all()?,
            branches: session.tips().len(),
        })
    }
}
