//! Stats of branches: what each did after its branch point, for a table of all of them.

use super::Stats;
use crate::branches::{Branch, ending, iter_branches};
use session_tree::{Ending, Node, Result, Session};

/// Statistics of the entries that only one branch has.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct BranchStats {
    /// The entries after the branch point, and the bookkeeping that hangs below the tip.
    pub own: Stats,
    /// The end of the branch.
    pub ends: Ending,
}

/// One row of the table of branches.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BranchRow {
    /// The branch.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub branch: Branch,
    /// Its statistics.
    #[cfg_attr(feature = "serde", serde(flatten, serialize_with = "spending"))]
    #[cfg_attr(feature = "schema", schemars(with = "Spending"))]
    pub stats: BranchStats,
}

/// The part of [`BranchStats`] that the JSON of a row has.
#[cfg(feature = "serde")]
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Spending {
    /// The tokens of the entries after the branch point.
    tokens: u64,
    /// Their cost in dollars.
    cost: f64,
    /// The model of the last answer that names one.
    model: Option<session_tree::ModelRef>,
}

#[cfg(feature = "serde")]
fn spending<S: serde::Serializer>(
    stats: &BranchStats,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let Stats { usage, last_model, .. } = &stats.own;
    let spending = Spending { tokens: usage.total, cost: usage.cost, model: last_model.clone() };
    serde::Serialize::serialize(&spending, serializer)
}

impl BranchStats {
    /// Counts the entries of a branch after its branch point.
    ///
    /// The own parts of different branches do not overlap. Entries before the first branch point belong to none.
    pub fn of(session: &Session, branch: &Branch) -> Result<Self> {
        let own = Stats::of_entries(session, own_part(session, branch))?;
        Ok(BranchStats { own, ends: ending(session, branch.tip)? })
    }
}

/// Lists the branches with their statistics, in the order of [`branches`](crate::branches()).
pub fn branch_table(session: &Session) -> Result<Vec<BranchRow>> {
    iter_branch_table(session)?.collect()
}

/// Reads the rows of [`branch_table`] one by one: a session may have a million branches.
pub fn iter_branch_table(session: &Session) -> Result<impl ExactSizeIterator<Item = Result<BranchRow>>> {
    let row = |branch: Result<Branch>| {
        let branch = branch?;
        Ok(BranchRow { stats: BranchStats::of(session, &branch)?, branch })
    };
    Ok(iter_branches(session)?.map(row))
}

/// Returns the entries after the branch point, oldest first, and the bookkeeping below the tip.
fn own_part(session: &Session, branch: &Branch) -> Vec<Node> {
    let tree = session.tree();
    let above = tree.ancestors(branch.tip).take_while(|node| Some(*node) != branch.branch_point);
    let mut own: Vec<Node> = above.collect();
    own.reverse();
    own.extend(tree.subtree(branch.tip).into_iter().filter(|node| *node != branch.tip));
    own
}
