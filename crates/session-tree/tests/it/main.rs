//! The promises of the engine, tested through its public API.
mod writing;
