//! What several promises need to be checked.

pub(crate) mod canonical;
pub(crate) mod live;
pub(crate) mod recorded;
