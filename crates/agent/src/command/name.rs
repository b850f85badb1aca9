//! `/name`: what the session is called.

use serde_json::json;
use session_tree::{EntryId, spelled_name};

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::Result;

/// What a name command would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePlan {
    /// The name the session would have.
    pub name: Option<String>,
    /// The name it has.
    pub previous: Option<String>,
}

impl NamePlan {
    /// Tells whether the session has this name already.
    pub fn is_noop(&self) -> bool {
        self.name == self.previous
    }
}

impl Agent {
    /// Plans to name the session, spelled as files spell names; no name, or a blank one, takes it away. Changes nothing.
    pub fn plan_name(&self, name: Option<&str>) -> NamePlan {
        NamePlan { name: name.and_then(spelled_name), previous: self.session().name().map(str::to_owned) }
    }

    /// Names the session as planned. Returns the new entry, or none if there is nothing to change.
    pub async fn name_session(&mut self, plan: &NamePlan, cancel: &Cancel) -> Result<Option<EntryId>> {
        if plan.is_noop() {
            return Ok(None);
        }
        let id = self.session().append_session_info(plan.name.as_deref().unwrap_or_default())?;
        self.session().sync()?;
        self.tell_name(plan.name.as_deref(), cancel).await;
        self.tell_news(cancel).await;
        Ok(Some(id))
    }

    /// Tells extensions that the session has another name.
    pub(crate) async fn tell_name(&self, name: Option<&str>, cancel: &Cancel) {
        self.tell_of("session_info_changed", || json!({"name": name}), cancel).await;
    }
}
