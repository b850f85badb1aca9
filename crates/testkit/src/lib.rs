//! test kit

pub mod corpus;
pub mod mangle;
pub mod rng;
