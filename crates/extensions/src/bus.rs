//! The bus on which extensions tell each other things.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::{Value as Json, json};

use crate::handle::Handle;

/// The bus of all extensions of one agent.
#[derive(Debug, Default)]
pub(crate) struct Bus(Mutex<Vec<Weak<Handle>>>);

impl Bus {
    pub(crate) fn join(&self, handle: Weak<Handle>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }

    /// Returns everybody who is still there.
    pub(crate) fn members(&self) -> Vec<Arc<Handle>> {
        let members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        members.iter().filter_map(Weak::upgrade).collect()
    }

    /// Tells everybody but who says it: who says it hears itself at once.
    pub(crate) fn emit(&self, from: &Arc<Handle>, channel: &str, data: &Json) {
        let payload = json!({"channel": channel, "data": data}).to_string();
        for handle in self.members().iter().filter(|handle| !Arc::ptr_eq(handle, from)) {
            handle.tell("bus", payload.clone());
        }
    }
}
