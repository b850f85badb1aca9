//! One command, one file.

pub(crate) mod check;
pub(crate) mod context;
pub(crate) mod demo;
pub(crate) mod tree;
