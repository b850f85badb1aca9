//! The requests to an agent, each with its reply.
//!
//! A request waits in the queue until the agent is idle. Requests run one after the other, in the order in which they
//! were sent. Requests that plan change nothing; the plan is a value that can be shown and then applied.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use session_tree::{Destination, EntryId, Options, Session};

use super::{AgentHandle, Reply};
use crate::agent::{ChosenBy, Move, NavigateRequest, NavigationResult, RanCommand, Submission, Submitted};
use crate::cancel::Cancel;
use crate::command::{
    Applied, CherryPick, CherryPickRequest, CherryPicked, CloneAll, Export, ExportRequest, Fork, ForkRequest,
    Forked, Import, LabelPlan, LabelRequest, MergeBranchRequest, MergeDraft, MergedBranch, MoveRequest,
    NamePlan, NewRequest, Pop, PopRequest, Reload, Replaced, Replacement,
};
use crate::extension::{CommandRun, ExtensionBundle, ExtensionCommand};
use crate::model::{Model, ThinkingLevel};
use crate::resources::Resources;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::shared::SharedSession;
use crate::tools::UserCommand;

/// A function that returns the system prompt. It runs after the tools of extensions are loaded, and again when extensions
/// add skills.
pub struct SystemPrompt(pub(crate) Box<dyn Fn(&Resources) -> String + Send + Sync>);

impl SystemPrompt {
    /// Wraps a function.
    pub fn new(make: impl Fn(&Resources) -> String + Send + Sync + 'static) -> Self {
        SystemPrompt(Box::new(make))
    }
}

impl fmt::Debug for SystemPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemPrompt")
    }
}

/// Changes settings.
pub type ChangeSettings = Box<dyn FnOnce(&mut Settings) + Send>;

/// Declares methods of the handle. Each runs its block with the agent as soon as the agent is idle.
macro_rules! requests {
    ($(
        $(#[$doc:meta])*
        $name:ident($($arg:ident: $type:ty),*) -> $reply:ty = |$agent:ident, $cancel:ident| $run:expr;
    )*) => {
        impl AgentHandle {$(
            $(#[$doc])*
            pub fn $name(&self, $($arg: $type),*) -> Reply<$reply> {
                self.request(move |$agent, $cancel: &Cancel| Box::pin(async move { $run }))
            }
        )*}
    };
}

// The model.
requests! {
    /// Sends a prompt and replies when the model has answered.
    prompt(submission: Submission) -> Submitted = |agent, cancel| agent.run_prompt(submission, cancel).await;
    /// Runs a shell command of the user and appends it with its output. Events carry partial output under the call id
    /// [`USER_COMMAND`](crate::agent::USER_COMMAND). The reply is the message, even if it could not be appended.
    run_command(command: UserCommand) -> RanCommand = |agent, cancel| agent.run_user_command(&command, cancel).await;
    /// Replaces older messages by a summary.
    compact(focus: Option<String>) -> Applied<EntryId> =
        |agent, cancel| agent.compact(focus.as_deref(), cancel).await;
    /// Runs the extension command that a line names, without its slash. Any other line is a prompt.
    run_line(line: String) -> () = |agent, cancel| agent.run_line(&line, cancel).await;
    /// Runs a command of an extension by its name.
    run_extension_command(name: String, arguments: String) -> CommandRun =
        |agent, cancel| Ok(agent.run_extension_command(&name, &arguments, cancel).await);
}

// Moving the leaf.
requests! {
    /// Moves the leaf to an entry.
    navigate(request: NavigateRequest) -> Applied<NavigationResult> =
        |agent, cancel| agent.navigate_tree(&request, cancel).await;
    /// Moves the leaf as planned.
    go(planned: Move) -> Applied<NavigationResult> = |agent, cancel| agent.go(planned, cancel).await;
    /// Moves the leaf to an entry itself, also if it is a prompt.
    branch_here(request: MoveRequest) -> Applied<NavigationResult> = |agent, cancel| {
        let planned = agent.plan_branch_here(&request)?;
        agent.go(planned, cancel).await
    };
    /// Plans a move to the end of a branch.
    plan_switch(request: MoveRequest) -> Move = |agent, _cancel| agent.plan_switch(&request);
    /// Plans a move to an entry itself.
    plan_branch_here(request: MoveRequest) -> Move = |agent, _cancel| agent.plan_branch_here(&request);
    /// Plans a move to the previous position.
    plan_back() -> Move = |agent, _cancel| agent.plan_back();
    /// Plans a move to the position that the last move back left.
    plan_forward() -> Move = |agent, _cancel| agent.plan_forward();
    /// Plans to take back the last prompt, pick or merge.
    plan_undo() -> Move = |agent, _cancel| agent.plan_undo();
    /// Plans to go back to before a prompt with a summary.
    plan_pop(request: PopRequest) -> Pop = |agent, _cancel| agent.plan_pop(&request);
    /// Writes the position of the leaf to the file, if a move was not followed by an append.
    keep_position() -> Option<EntryId> = |agent, _cancel| agent.keep_position();
}

// Labels, names and copies.
requests! {
    /// Plans a label.
    plan_label(request: LabelRequest) -> LabelPlan = |agent, _cancel| agent.plan_label(&request);
    /// Plans a label for the place to which `pop` returns.
    plan_push(name: String) -> LabelPlan = |agent, _cancel| agent.plan_push(&name);
    /// Sets a label as planned.
    label(plan: LabelPlan) -> Option<EntryId> = |agent, cancel| agent.label(&plan, cancel).await;
    /// Plans a name of the session.
    plan_name(name: Option<String>) -> NamePlan = |agent, _cancel| Ok(agent.plan_name(name.as_deref()));
    /// Names the session as planned.
    name_session(plan: NamePlan) -> Option<EntryId> = |agent, cancel| agent.name_session(&plan, cancel).await;
    /// Appends a note of the user, which the model reads with its next request.
    note(text: String) -> EntryId = |agent, cancel| agent.note(&text, cancel).await;
    /// Plans to copy entries to the leaf.
    plan_cherry_pick(source: Option<SharedSession>, request: CherryPickRequest) -> CherryPick =
        |agent, _cancel| agent.plan_cherry_pick(source.as_ref(), &request);
    /// Copies entries as planned.
    cherry_pick(pick: CherryPick) -> Applied<CherryPicked> =
        |agent, cancel| agent.cherry_pick(pick, cancel).await;
    /// Plans to merge a branch.
    plan_merge(source: Option<SharedSession>, request: MergeBranchRequest) -> MergeDraft =
        |agent, _cancel| agent.plan_merge(source.as_ref(), &request);
    /// Writes the text of a merge.
    draft_merge(planned: MergeDraft) -> Applied<MergeDraft> =
        |agent, cancel| agent.draft_merge(planned, cancel).await;
    /// Appends a merge.
    merge(draft: MergeDraft) -> Applied<MergedBranch> = |agent, cancel| agent.merge(&draft, cancel).await;
}

// Other sessions.
requests! {
    /// Continues in a new session.
    new_session(request: NewRequest, options: Options) -> Applied<Replaced> = |agent, cancel| {
        let planned = agent.plan_new(request, options)?;
        agent.replace_session(planned, cancel).await
    };
    /// Continues in the session of a file.
    resume(file: PathBuf, options: Options) -> Applied<Replaced> = |agent, cancel| {
        let planned = agent.plan_resume(&file, options)?;
        agent.replace_session(planned, cancel).await
    };
    /// Forks at an entry.
    fork_at(request: ForkRequest, options: Options) -> Applied<Forked> = |agent, cancel| {
        let fork = agent.plan_fork(&request)?;
        agent.fork(fork, options, cancel).await
    };
    /// Plans a new session.
    plan_new(request: NewRequest, options: Options) -> Replacement =
        |agent, _cancel| agent.plan_new(request, options);
    /// Plans to start over in this session.
    plan_new_here() -> Move = |agent, _cancel| agent.plan_new_here();
    /// Plans to continue in the session of a file.
    plan_resume(file: PathBuf, options: Options) -> Replacement =
        |agent, _cancel| agent.plan_resume(&file, options);
    /// Continues in another session as planned.
    replace_session(planned: Replacement) -> Applied<Replaced> =
        |agent, cancel| agent.replace_session(planned, cancel).await;
    /// Plans a fork.
    plan_fork(request: ForkRequest) -> Fork = |agent, _cancel| agent.plan_fork(&request);
    /// Plans a copy of the current path.
    plan_clone(to: Option<Destination>) -> Fork = |agent, _cancel| agent.plan_clone(to);
    /// Forks as planned.
    fork(fork: Fork, options: Options) -> Applied<Forked> =
        |agent, cancel| agent.fork(fork, options, cancel).await;
    /// Plans a copy of the whole session.
    plan_clone_all(to: Destination) -> CloneAll = |agent, _cancel| agent.plan_clone_all(to);
    /// Copies the whole session as planned.
    clone_all(clone: CloneAll, options: Options) -> Applied<Replaced> =
        |agent, cancel| agent.clone_all(clone, options, cancel).await;
    /// Plans to copy a session file into the directory of the project.
    plan_import(file: PathBuf, directory: PathBuf, options: Options) -> Import =
        |agent, _cancel| agent.plan_import(&file, &directory, options);
    /// Imports a session as planned.
    import(import: Import, options: Options) -> Applied<Replaced> =
        |agent, cancel| agent.import(import, options, cancel).await;
    /// Plans a session file with one branch.
    plan_export(request: ExportRequest) -> Export = |agent, _cancel| agent.plan_export(&request);
    /// Writes one branch to a session file.
    export_branch(export: Export, options: Options) -> Session =
        |agent, _cancel| agent.export_branch(&export, options);
}

// The agent itself.
requests! {
    /// Sets the model and stores the choice in the session.
    choose_model(model: Arc<dyn Model>, by: ChosenBy) -> EntryId =
        |agent, _cancel| agent.choose_model_by(model, by);
    /// Uses the model that the session already names. Writes nothing.
    restore_model(model: Arc<dyn Model>, thinking: Option<ThinkingLevel>) -> () = |agent, _cancel| {
        let thinking = thinking.or_else(|| agent.stored_thinking()).unwrap_or(agent.thinking);
        agent.restore_model(model, thinking);
        Ok(())
    };
    /// Sets the thinking level and stores it in the session.
    choose_thinking(level: ThinkingLevel) -> EntryId = |agent, _cancel| agent.choose_thinking(level);
    /// Replaces the settings, the secrets and the system prompt from the next turn on.
    configure(settings: Settings, secrets: Arc<Secrets>, system: String) -> () = |agent, _cancel| {
        agent.set_settings(settings);
        agent.secrets = secrets;
        agent.system = system;
        Ok(())
    };
    /// Replaces the skills and prompt templates, also those that extensions added.
    set_resources(resources: Resources) -> () = |agent, _cancel| {
        agent.set_resources(Arc::new(resources));
        Ok(())
    };
    /// Changes the settings, from the next turn on.
    change_settings(change: ChangeSettings) -> () = |agent, _cancel| {
        let mut settings = agent.settings.clone();
        change(&mut settings);
        agent.set_settings(settings);
        Ok(())
    };
    /// Loads extensions with `load`, now and whenever the session is replaced, and reports the start to them.
    start(load: Option<Reload>, system: Option<SystemPrompt>) -> () = |agent, cancel| {
        if let Some(load) = load {
            agent.set_reload(load);
            agent.load_extensions().await;
        }
        agent.set_system(system);
        agent.start(cancel).await;
        Ok(())
    };
    /// Replaces the commands of extensions.
    set_commands(commands: Vec<Arc<dyn ExtensionCommand>>) -> () = |agent, _cancel| {
        let hooks = agent.hooks.clone();
        agent.install(ExtensionBundle { hooks, commands });
        Ok(())
    };
    /// Reloads extensions.
    reload(system: Option<SystemPrompt>) -> () = |agent, cancel| {
        agent.reload(cancel).await;
        agent.set_system(system);
        Ok(())
    };
    /// Replies when the agent is idle and everything that was queued before has run.
    wait_until_idle() -> () = |_agent, _cancel| Ok(());
    /// Waits until no other program holds the lock of the session file.
    until_unlocked() -> () = |agent, cancel| agent.until_unlocked(cancel).await;
    /// Ends the agent: reports the end to extensions, writes the position of the leaf, and stops the thread.
    quit() -> () = |agent, cancel| {
        // Handlers may have queued requests.
        agent.run_queue(cancel).await;
        agent.quit().await;
        agent.has_quit = true;
        Ok(())
    };
}
