//! Shared parts of the tests: drawings of trees, clocks, ids, a simulated disk, seeded session files, hostile
//! texts, a browser, the real pi, a PostgreSQL server, and a pooler and a proxy before it.

pub mod browser;
pub mod canonical;
pub mod clock;
pub mod corpus;
pub mod crash;
pub mod drawing;
pub mod hostile;
pub mod ids;
pub mod mangle;
pub mod model_server;
pub mod pi;
pub mod pooler;
pub mod postgres;
pub mod proxy;
pub mod rng;
pub mod sim_fs;
pub mod soak;
