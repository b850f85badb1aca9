//! The commands of the tree: what pi's protocol does not have.

use std::path::Path;
use std::rc::Rc;

use offshoot_agent::agent::{NavigateRequest, SummaryRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy};
use offshoot_agent::error::AgentError;
use serde_json::{Value as Json, json};
use session_tree::{Node, Session, estimate_tokens};
use session_view::{Filter, Outline, OutlineOptions, split_reference};

use super::client::{Client, Reply, Subscription};
use super::commands::{data, done};
use super::events::entry_json;
use super::protocol::{Command, ExportScope, MergeMode, Navigated, PickMode, Scope, Sort, Subscribed};
use super::server::Server;
use crate::failure::{Failure, FailureKind};
use crate::page::Page;
use crate::program::{List, SessionsQuery};

/// The rows of a list of sessions, if the client does not say how many.
const SESSIONS: usize = 100;

const WAIT: &str = "Wait for the current response to finish before navigating the session tree.";

impl Server {
    /// Runs a command of the tree.
    pub(crate) async fn run_of_tree(self: &Rc<Self>, client: &Rc<Client>, command: Command) -> Reply {
        match command {
            Command::NavigateTree { .. } => self.navigate(command).await,
            Command::AbortBranchSummary {} => {
                self.navigation.borrow().iter().for_each(Cancel::cancel);
                done()
            }
            Command::SetLabel { entry_id, label } => {
                let target = self.agent.find(&entry_id)?;
                let id = self.agent.set_label(target.as_str(), label.as_deref())?;
                data(&json!({"entryId": target, "labelEntryId": id}))
            }
            Command::GetLabels {} => {
                let labels = self.agent.read(|session| self.program.list(session, List::Labels))?;
                data(&json!({ "labels": labels }))
            }
            Command::ListBranches {} => {
                let branches = self.agent.read(|session| self.program.list(session, List::Branches))?;
                data(&json!({ "branches": branches }))
            }
            Command::ListSessions { scope, query, sort, limit, cursor } => {
                let query = SessionsQuery {
                    all: scope == Some(Scope::All),
                    query: query.unwrap_or_default(),
                    threaded: sort == Some(Sort::Threaded),
                };
                self.list_sessions(&query, limit.unwrap_or(SESSIONS), cursor.as_deref())
            }
            Command::RenameSession { session_path, name } => self.rename(session_path.as_deref(), &name),
            Command::DeleteSession { session_path, trash } => self.delete(&session_path, trash),
            Command::GetEntry { reference } => self.at(Some(&reference), |session, node| {
                let node = node.ok_or_else(no_entry)?;
                data(&json!({"entry": session.entry_at(node)?.value().and_then(|value| value.to_serde())}))
            }),
            Command::GetPath { reference } => self.at(reference.as_deref(), |session, node| {
                let path = session.branch_path(session.position_of(node)?);
                entry_list(session, path).map(|entries| format!("{{\"entries\":{entries}}}"))
            }),
            Command::GetContext { reference } => self.at(reference.as_deref(), context),
            Command::ResolveRef { reference } => self.at(Some(&reference), |session, node| {
                let id = node.map(|node| session.tree().id(node));
                data(&json!({"entryId": id, "sessionFile": session.file()}))
            }),
            Command::Diff { a, b } => self.at(Some(&a), |session, one| {
                let other = match &b {
                    Some(reference) => Some(session_view::resolve(session, reference)?),
                    None => session.leaf(),
                };
                let (one, other) = (one.ok_or_else(no_entry)?, other.ok_or_else(no_entry)?);
                data(&session_view::compare(session, one, other)?)
            }),
            Command::Subscribe { events, since, approvals } => {
                let names = events.map(|names| names.into_iter().collect());
                self.subscribe(client, Subscription { names }, since, approvals.unwrap_or_default()).await
            }
            Command::ExtensionUiResponse { id, value, confirmed, cancelled } => {
                let fields = json!({
                    "id": id, "value": value, "confirmed": confirmed, "cancelled": cancelled,
                });
                let Json::Object(mut fields) = fields else { return done() };
                fields.retain(|_, value| !value.is_null());
                self.answer_dialog(&fields)
            }
            command => self.run_of_program(command).await,
        }
    }

    /// Runs a command of the program, as its command line does.
    async fn run_of_program(&self, command: Command) -> Reply {
        let mut words: Vec<String> = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            words.push(name.to_owned());
            words.extend(value);
        };
        let (reference, dry_run) = match command {
            Command::CherryPick { reference, mode, turn, note, again, with_state, dry_run } => {
                add("cherry-pick", None);
                if mode == Some(PickMode::Native) {
                    add("--as", Some("native".to_owned()));
                }
                let flags = [(turn, "--turn"), (again, "--again"), (with_state, "--with-state")];
                flags
                    .iter()
                    .filter(|(is_set, _)| *is_set == Some(true))
                    .for_each(|(_, name)| add(name, None));
                note.into_iter().for_each(|note| add(&format!("--note={note}"), None));
                (reference, dry_run)
            }
            Command::Merge { reference, mode, focus, message, note, no_fast_forward, dry_run } => {
                add("merge", None);
                if mode == Some(MergeMode::Summary) {
                    add("--mode", Some("summary".to_owned()));
                }
                focus.into_iter().for_each(|text| add(&format!("--focus={text}"), None));
                message.into_iter().for_each(|text| add(&format!("--message={text}"), None));
                note.into_iter().for_each(|text| add(&format!("--note={text}"), None));
                if no_fast_forward == Some(true) {
                    add("--no-ff", None);
                }
                (reference, dry_run)
            }
            Command::ExportBranch { reference, output_path, scope, dry_run } => {
                add("export-branch", None);
                match scope {
                    Some(ExportScope::Path) => add("--path", None),
                    Some(ExportScope::Subtree) => add("--subtree", None),
                    Some(ExportScope::Branch) | None => {}
                }
                output_path.into_iter().for_each(|path| add(&format!("--output={path}"), None));
                (reference, dry_run)
            }
            Command::ImportSession { path, dry_run } => {
                add("import", None);
                (path, dry_run)
            }
            command => return Err(Failure::new(format!("{command:?} is not a command of the program"))),
        };
        words.extend(["--".to_owned(), reference]);
        let cancel = Cancel::new();
        let change = self.program.run(words, &self.agent, dry_run.unwrap_or_default(), &cancel).await?;
        data(&change)
    }

    async fn navigate(&self, command: Command) -> Reply {
        let Command::NavigateTree {
            target_id,
            summarize,
            custom_instructions,
            replace_instructions,
            label,
            note,
        } = command
        else {
            return done();
        };
        if self.is_streaming() {
            return Err(Failure::of(FailureKind::Busy, WAIT));
        }
        let summary = match (note, custom_instructions) {
            (Some(note), _) => SummaryRequest::Note(note),
            (None, _) if summarize != Some(true) => SummaryRequest::Skip,
            (None, Some(text)) if replace_instructions == Some(true) => SummaryRequest::Replace(text),
            (None, Some(text)) => SummaryRequest::Focus(text),
            (None, None) => SummaryRequest::Standard,
        };
        let moving = match target_id {
            Some(reference) => {
                let target = self.agent.find(&reference)?.to_string();
                self.agent.navigate(NavigateRequest { target, summary, label })
            }
            None => match self.agent.plan_new_here().await {
                Ok(planned) => self.agent.go(planned),
                // The leaf is there already.
                Err(AgentError::NothingBehind) => return self.navigated(&Applied::Done(Default::default())),
                Err(error) => return Err(error.into()),
            },
        };
        self.navigation.replace(Some(moving.canceller()));
        let applied = moving.await;
        self.navigation.take();
        self.navigated(&applied?)
    }

    fn navigated(&self, applied: &Applied<offshoot_agent::agent::NavigationResult>) -> Reply {
        let by = applied.cancelled_by();
        let result = match applied {
            Applied::Done(result) => result.clone(),
            Applied::Cancelled(_) => Default::default(),
        };
        let images = result.images.iter();
        let images =
            images.map(|image| json!({"type": "image", "data": image.data, "mimeType": image.mime_type}));
        self.agent.read(|session| {
            data(&Navigated {
                cancelled: by.is_some(),
                aborted: by == Some(&CancelledBy::User),
                editor_text: result.editor_text.clone(),
                editor_images: images.collect(),
                summary_entry: result.summary_entry.as_ref().and_then(|id| entry_json(session, id.as_str())),
                leaf_id: session.leaf_id(),
            })
        })
    }

    fn list_sessions(&self, query: &SessionsQuery, limit: usize, cursor: Option<&str>) -> Reply {
        let Page { rows, next, total } = Page::of(self.program.list_sessions(query)?, cursor, limit)?;
        let mut list = json!({"sessions": rows, "total": total});
        if let Some(next) = next {
            list["nextCursor"] = next.into();
        }
        data(&list)
    }

    /// Returns true if a file is the one of the current session.
    fn is_current(&self, file: &Path) -> bool {
        let current = self.agent.read(|session| session.file().map(Path::to_path_buf));
        current.is_some_and(|current| {
            current == file
                || current.canonicalize().ok().is_some_and(|own| Some(own) == file.canonicalize().ok())
        })
    }

    fn rename(&self, session: Option<&str>, name: &str) -> Reply {
        let file = session.map(|wanted| self.program.find_session(wanted)).transpose()?;
        match file.filter(|file| !self.is_current(file)) {
            None => self.set_name(name),
            Some(_) if name.trim().is_empty() => Err(Failure::new("Session name cannot be empty")),
            Some(file) => {
                let mut session = self.program.options().open(file)?;
                session.append_session_info(name.trim())?;
                session.sync()?;
                done()
            }
        }
    }

    fn delete(&self, session: &str, trash: Option<bool>) -> Reply {
        if trash == Some(false) {
            let text = "sessions are moved to the trash only: `trash` must be true or absent";
            return Err(Failure::of(FailureKind::BadInput, text));
        }
        let file = self.program.find_session(session)?;
        if self.is_current(&file) {
            return Err(Failure::new("this session is open here; switch to another one first"));
        }
        self.program.trash(&file)?;
        data(&json!({"sessionPath": file, "trash": true}))
    }

    /// Reads a session at an entry: `SESSION:REF` in another session, else in the current one, whose leaf is the default.
    fn at(&self, reference: Option<&str>, read: impl FnOnce(&Session, Option<Node>) -> Reply) -> Reply {
        let (other, inner) = reference.map_or((None, None), |text| {
            let (session, inner) = split_reference(text);
            (session, Some(inner))
        });
        match (other, inner) {
            (Some(other), Some(inner)) => {
                let session = self.program.options().open_read_only(self.program.find_session(other)?)?;
                let node = session_view::resolve(&session, inner)?;
                read(&session, Some(node))
            }
            (_, None | Some("leaf" | ".")) => self.agent.read(|session| read(session, session.leaf())),
            (None, Some(inner)) => {
                let id = self.agent.find(inner)?;
                self.agent.read(|session| read(session, Some(session.node(id.as_str())?)))
            }
        }
    }

    /// Sends events of the tree to a client, all with a number, and those after a number again.
    async fn subscribe(
        self: &Rc<Self>,
        client: &Rc<Client>,
        subscription: Subscription,
        since: Option<u64>,
        approves: bool,
    ) -> Reply {
        self.keep_events();
        client.subscription.replace(Some(subscription));
        client.approves.set(approves);
        if approves {
            self.receive_approvals();
        }
        let seq = self.log.borrow().last_seq();
        let missed = since.map(|since| self.log.borrow().since(since));
        let resumed = !matches!(missed, Some(None));
        for event in missed.flatten().into_iter().flatten() {
            client.send_event(&event).await;
        }
        data(&Subscribed { seq, resumed })
    }
}

fn no_entry() -> Failure {
    Failure::of(FailureKind::BadInput, "the session is before its first entry")
}

/// Spells the messages of the context with their tokens.
fn context(session: &Session, node: Option<Node>) -> Reply {
    let position = session.position_of(node)?;
    let context = session.context_at(position.clone())?;
    let tokens: Vec<u64> = context.items.iter().map(|item| estimate_tokens(&item.message)).collect();
    let total = session.context_estimate(position)?.tokens;
    data(&json!({"context": context, "itemTokens": tokens, "tokens": total}))
}

/// Spells entries as they are in the file.
pub(crate) fn entry_list(session: &Session, nodes: impl IntoIterator<Item = Node>) -> Reply {
    let mut text = String::from("[");
    for node in nodes {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&data(&session.entry_at(node)?)?);
    }
    text.push(']');
    Ok(text)
}

/// Spells the tree: rows in one line each, or the shape of pi.
pub(crate) fn tree(session: &Session, preview: Option<bool>) -> Reply {
    let leaf = json!(session.leaf_id());
    if preview == Some(true) {
        let options = OutlineOptions { filter: Filter::All, ..OutlineOptions::default() };
        let outline = Outline::new(session, options);
        let rows = data(&outline.rows_with_levels(session, 0..outline.len(), 0)?)?;
        return Ok(format!("{{\"rows\":{rows},\"leafId\":{leaf}}}"));
    }
    let mut text = Vec::from(b"{\"tree\":");
    session_view::write_nested(session, &mut |part: &[u8]| {
        text.extend_from_slice(part);
        Ok::<(), Failure>(())
    })?;
    let text = String::from_utf8(text).map_err(|error| Failure::new(error.to_string()))?;
    Ok(format!("{text},\"leafId\":{leaf}}}"))
}
