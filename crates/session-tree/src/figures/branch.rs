//! Figures of branches: what each did after its branch point, for a table of all of them.

use super::Figures;
use crate::branches::Branch;
use crate::entry::Ending;
use crate::error::Result;
use crate::session::Session;
use crate::tree::Node;

/// What a branch holds that no other one does, in numbers.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct BranchFigures {
    /// The entries after the branch point, and the bookkeeping that hangs below the tip.
    pub own: Figures,
    /// How the branch ends.
    pub ends: Ending,
}

/// One row of the table of branches.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BranchRow {
    /// The branch.
    pub branch: Branch,
    /// What it did.
    pub figures: BranchFigures,
}

/// Reading.
impl Session {
    /// Counts what a branch did after its branch point.
    ///
    /// The own parts of different branches do not overlap. What lies before the first branch point belongs to none.
    pub fn branch_figures(&self, branch: &Branch) -> Result<BranchFigures> {
        Ok(BranchFigures { own: self.figures(self.own_part(branch))?, ends: self.ending(branch.tip)? })
    }

    /// Lists the branches with their figures, in the order of [`Session::branches`].
    pub fn branch_table(&self) -> Result<Vec<BranchRow>> {
        self.each_branch_row()?.collect()
    }

    /// Reads the rows of [`branch_table`](Session::branch_table) one by one: a session may have a million branches.
    pub fn each_branch_row(&self) -> Result<impl ExactSizeIterator<Item = Result<BranchRow>>> {
        let row = |branch: Result<Branch>| {
            let branch = branch?;
            Ok(BranchRow { figures: self.branch_figures(&branch)?, branch })
        };
        Ok(self.each_branch()?.map(row))
    }

    /// The entries after the branch point, oldest first, and what hangs below the tip.
    fn own_part(&self, branch: &Branch) -> Vec<Node> {
        let tree = self.tree();
        let above = tree.ancestors(branch.tip).take_while(|node| Some(*node) != branch.branch_point);
        let mut own: Vec<Node> = above.collect();
        own.reverse();
        own.extend(tree.subtree(branch.tip).into_iter().filter(|node| *node != branch.tip));
        own
    }
}
