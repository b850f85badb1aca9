//! `offshoot logout`: removes the key of a model service.

pub(crate) use super::login::{LogoutArgs as Args, logout as run};
