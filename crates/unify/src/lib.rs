//! Empty. The dependencies of this package are its purpose; see `Cargo.toml`.
