//! test kit

pub mod clock;
pub mod corpus;
pub mod drawing;
pub mod ids;
pub mod mangle;
pub mod model_server;
pub mod rng;
pub mod sim_fs;
