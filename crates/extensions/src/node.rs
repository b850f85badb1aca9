//! The second engine: extensions that need more than the embedded engine run in a child process of Node.
//!
//! ```text
//!   script in a worker thread of Node -> main thread of the child -> pipe -> Child -> Remote (thread of the extension)
//! ```
//!
//! The JavaScript of the API is the same; `js/host/` has what is different below it. One child runs all extensions of one
//! [`Origin`](crate::discover::Origin), each in a worker thread with its own limits. Nothing is started before an extension
//! needs it.

mod child;
mod frame;
mod needs;
mod remote;
mod source;

pub(crate) use child::{Children, NOT_INSTALLED};
pub(crate) use frame::{Frame, Kind as FrameKind};
pub(crate) use needs::first_need;
pub(crate) use remote::Remote;
