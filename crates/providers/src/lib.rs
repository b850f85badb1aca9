//! Models that services host, behind the agent's [`Model`](offshoot_agent::model::Model) trait, and one that needs no
//! service.
//!
//! request -> transform -> **body** -> HTTP -> event stream -> **decoder** -> answer events
//!
//! All services share one HTTP client and one event-stream decoder. Each wire format is one file that turns a request
//! into a body and frames into events, without using the network. [`Providers`] finds a model by name in the
//! [`Catalogue`] and its key in the [`Credentials`]. [`OfflineModel`] needs neither.
//!
//! Never touches sessions, terminals or tools; never repeats a request (the agent does); never writes a key into a log,
//! an error or a message.
//!
//! The feature `network` (on by default) is the HTTP client. Without it the catalogue can be read, and every model but
//! the offline one answers with [`Error::NoNetwork`].
#![forbid(unsafe_code)]
// Without the HTTP client nothing calls the wire formats.
#![cfg_attr(not(feature = "network"), allow(dead_code, unused_imports))]

mod catalogue;
mod credentials;
mod error;
#[cfg(feature = "network")]
mod http;
mod offline;
mod providers;
mod request_error;
mod secret;
#[cfg(feature = "network")]
mod service;
mod sse;
mod transform;
mod wire;

pub use catalogue::{Catalogue, Dialect, ModelSettings, ProviderSettings, Settings, ThinkingStyle};
pub use credentials::{Credentials, CredentialsFile, KeySource};
pub use error::{Error, Result};
#[cfg(feature = "network")]
pub use http::{HttpOptions, WebClient, WebError, WebResponse};
pub use offline::OfflineModel;
pub use providers::{Available, ProviderKey, Providers};
pub use secret::Secret;
pub use wire::Api;
