//! The bus on which extensions tell each other things.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_json::{Value as Json, json};

use crate::handle::Handle;

/// The bus of all extensions of one agent.
#[derive(Default)]
pub(crate) struct Bus(Mutex<Vec<Weak<Handle>>>);

impl Bus {
    pub(crate) fn join(&self, handle: Weak<Handle>) {
        self.0.lock().push(handle);
    }

    /// Returns everybody who is still there.
    pub(crate) fn members(&self) -> Vec<Arc<Handle>> {
        let members = self.0.lock();
        members.iter().filter_map(Weak::upgrade).collect()
    }

    /// Tells everybody but who says it: who says it hears itself at once.
    pub(crate) fn emit(&self, from: &Arc<Handle>, channel: &str, data: &Json) -> Result<(), String> {
        let payload = json!({"channel": channel, "data": data}).to_string();
        let others = self.members().into_iter().filter(|handle| !Arc::ptr_eq(handle, from));
        let in_use = others.filter(|handle| handle.disabled().is_none());
        // Who cannot take more does not keep it from the others.
        let told: Vec<_> = in_use.map(|handle| handle.tell("bus", payload.clone())).collect();
        told.into_iter().collect()
    }
}
