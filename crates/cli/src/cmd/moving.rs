//! What `switch` and `branch-here` have in common: a move of the leaf that outlives the program.

use serde_json::{Value, json};
use session_tree::{EntryId, NavigationPlan, PromptImage, Session};

use super::texts::place;
use crate::app::App;
use crate::change::{Change, Changing};
use crate::error::CommandError;
use crate::ui::{Tone, count};

/// Where the leaf is to go.
#[derive(Debug)]
pub(super) enum Target {
    /// Before the first entry.
    Start,
    /// To the newest tip at or below an entry.
    Tip(EntryId),
    /// Onto an entry itself.
    Entry(EntryId),
    /// To an entry that was selected; a prompt is taken back.
    Selection(EntryId),
}

/// What goes to standard output after the move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    /// The id of the new position.
    Position,
    /// The text of the prompt that was taken back.
    Prompt,
}

/// A move that is about to happen. Holds ids, because a migration reads the tree anew.
struct Move {
    old_leaf: Option<EntryId>,
    new_leaf: Option<EntryId>,
    abandoned: usize,
    prompt: Option<String>,
    images: Vec<PromptImage>,
    /// The leaf is there already.
    stays: bool,
}

/// Moves the leaf, makes the position durable, and tells about it.
pub(super) fn go(
    session: &mut Session,
    target: &Target,
    gives: Gives,
    how: Changing,
    app: &mut App,
) -> Result<(), CommandError> {
    let planned = Move::plan(session, target)?;
    if !planned.stays && !how.dry_run {
        app.migrate(session)?;
        planned.apply(session)?;
    }
    if let (Some(prompt), Gives::Prompt, false) = (&planned.prompt, gives, how.json || how.dry_run) {
        app.ui.block(Tone::Plain, 0, prompt)?;
    }
    planned.told(session, gives)?.tell(app, how)?;
    match planned.images.len() {
        0 => Ok(()),
        _ if how.json => Ok(()),
        images => {
            let images = count(images, "image");
            app.ui.tell(&format!("the prompt had {images}, which only --json gives"))
        }
    }
}

impl Move {
    fn plan(session: &Session, target: &Target) -> Result<Self, CommandError> {
        let plan = match target {
            Target::Start => return Ok(Move::to_start(session)),
            Target::Tip(id) => session.plan_switch(id.as_str())?,
            Target::Entry(id) => session.plan_exact_navigation(id.as_str())?,
            Target::Selection(id) => session.plan_navigation(id.as_str())?,
        };
        Ok(Move::of(session, plan))
    }

    fn to_start(session: &Session) -> Self {
        Move {
            old_leaf: session.leaf_id(),
            new_leaf: None,
            abandoned: session.branch_path(None).len(),
            prompt: None,
            images: Vec::new(),
            stays: session.leaf().is_none(),
        }
    }

    fn of(session: &Session, plan: NavigationPlan) -> Self {
        Move {
            old_leaf: session.leaf_id(),
            new_leaf: plan.new_leaf.map(|node| session.tree().id(node)),
            // A prompt that is taken back is left behind, too.
            abandoned: session.abandoned_entries(session.leaf(), plan.new_leaf).entries.len(),
            prompt: plan.editor_text,
            images: plan.images,
            // The leaf may stand right before the prompt that is taken back.
            stays: plan.is_noop || plan.new_leaf == session.leaf(),
        }
    }

    fn apply(&self, session: &mut Session) -> Result<(), CommandError> {
        match &self.new_leaf {
            Some(leaf) => session.branch(leaf.as_str())?,
            None => session.reset_leaf(),
        }
        session.mark_leaf()?;
        Ok(session.barrier()?)
    }

    fn told(&self, session: &Session, gives: Gives) -> Result<Change, CommandError> {
        let new_leaf = self.new_leaf.as_ref();
        let place = place(session, new_leaf.and_then(|id| session.tree().node(id.as_str())))?;
        let mut change = match self.stays {
            true => Change::new("stayed", "stay", format!("at {place}: that is the position already")),
            false => Change::new("moved", "move", format!("to {place}{}", self.left()))
                .undo_by_moving(session, self.old_leaf.as_ref()),
        };
        if let (Some(leaf), Gives::Position) = (new_leaf, gives) {
            change = change.gives(leaf.as_str());
        }
        let text = |id: &EntryId| id.to_string();
        let change = change
            .field("moved", !self.stays)
            .field("oldLeafId", self.old_leaf.as_ref().map(text))
            .field("newLeafId", new_leaf.map(text))
            .field("abandonedEntries", self.abandoned)
            .field("prompt", self.prompt.clone())
            .field("images", images(&self.images));
        Ok(change.session(session))
    }

    fn left(&self) -> String {
        match self.abandoned {
            0 => String::new(),
            left => format!(", {} left behind", count(left, "entry")),
        }
    }
}

/// Gives the images of a prompt as the JSON forms show them.
pub(super) fn images(images: &[PromptImage]) -> Value {
    images.iter().map(|image| json!({"mimeType": image.mime_type, "data": image.data})).collect()
}
