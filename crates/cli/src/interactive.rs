//! A conversation at the terminal: `offshoot` without a command.
//!
//! arguments -> agent, chat -> **front** (the loop) -> the position is kept
//!
//! What is shown is in the terminal crate, what is done in the agent; here both are brought together.

mod background;
mod command;
mod extensions;
mod front;
mod images;
mod listen;
mod outside;
mod pending;
mod picking;
mod presence;
mod queue;
mod reader;
mod review;
mod sources;
mod status;
mod terminal;
mod unasked;
mod view;
mod walk;
mod welcome;

use std::fs;
use std::io;

use offshoot_agent::event::Events;
use offshoot_agent::permission::Mode;
use offshoot_agent::tools::ToolBox;
use offshoot_tui::chat::Chat;
use offshoot_tui::chat::item::Look;
use offshoot_tui::chat::transcript::Transcript;
use offshoot_tui::keys::{Action, Keymap};
use offshoot_tui::theme::Theme;
use session_view::Charset;

use crate::app::App;
use crate::cmd::spawn;
use crate::error::CommandError;
use crate::extensions::Sources;
use crate::setup::Setup;
use crate::talk;
use front::Front;

pub(crate) use sources::references;
pub(crate) use terminal::is_there as is_possible;

/// Runs the chat until the user leaves.
pub(crate) fn run(args: &talk::Args, app: &mut App) -> Result<(), CommandError> {
    if talk(args, None, app)? {
        app.ui.tell("the conversation is saved; `offshoot -c` continues it")?;
    }
    Ok(())
}

/// Runs the chat with the tree open and `introduction` above it.
pub(crate) fn tour(args: &talk::Args, introduction: &str, app: &mut App) -> Result<(), CommandError> {
    talk(args, Some(introduction), app).map(drop)
}

/// Runs the chat until the user leaves. Returns true if the session is on disk.
fn talk(args: &talk::Args, introduction: Option<&str>, app: &mut App) -> Result<bool, CommandError> {
    let setup = args.setup_asking(app)?;
    let sources = Sources::new(&args.extensions, &setup, true, app)?;
    if sources.is_empty() {
        args.extensions.check_flags(None)?;
        args.check_tools(&ToolBox::all())?;
    }
    let agent = args.agent_for(&setup, Mode::AskFor, Events::default(), app)?;
    let agent = spawn(agent)?;
    let (keymap, warnings) = keymap(app, &setup)?;
    app.ui.flush()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::system("start", "the runtime".as_ref(), &error))?;
    let chat = chat(app, &setup, keymap);
    let first = args.first_prompt();
    let is_saved = runtime.block_on(async {
        let mut front = Front::new(chat, agent.clone(), app, args, setup)?;
        front.open(sources);
        for warning in warnings {
            front.fail(&warning);
        }
        if args.opens_picker() {
            front.open_picker();
        }
        if let Some(text) = first {
            front.follow_up(&text);
        }
        if let Some(text) = introduction {
            front.introduce(text);
        }
        let talked = front.run().await;
        agent.quit().await?;
        let is_saved = agent.read(|session| session.file().is_some() && session.is_saved());
        talked.map(|()| is_saved)
    });
    // Whoever still reads for the screen may stop in the middle.
    runtime.shutdown_background();
    is_saved
}

/// Chooses the colours: none, those of the settings, or those that suit the terminal.
fn theme(app: &App, setup: &Setup) -> Theme {
    if app.ui.is_plain() {
        return Theme::plain();
    }
    let told = || app.env.colours().as_deref().and_then(Theme::for_colorfgbg);
    match setup.settings.theme().or_else(told) {
        Some(theme) => theme,
        None => background::theme().unwrap_or_default(),
    }
}

/// Makes the chat as the terminal and the person want it.
fn chat(app: &App, setup: &Setup, keymap: Keymap) -> Chat {
    let theme =
        theme(app, setup).with_charset(if app.env.is_ascii { Charset::Ascii } else { Charset::Unicode });
    let mut look = Look::new(theme);
    look.expand_key = keymap.name(Action::ToolsExpand).unwrap_or_default();
    let mut chat = Chat::new(Transcript::new(look), keymap);
    chat.double_escape = setup.settings.double_escape();
    chat.commands = crate::slash::specs();
    chat
}

/// Reads the keybindings; what cannot be understood is told.
fn keymap(app: &App, setup: &Setup) -> Result<(Keymap, Vec<String>), CommandError> {
    let preset = setup.settings.keymap();
    let path = app.env.config_dir()?.join("keybindings.json");
    match fs::read_to_string(&path) {
        Ok(text) => {
            let (keymap, errors) = Keymap::with_file(preset, &text);
            Ok((keymap, errors.iter().map(|error| format!("{}: {error}", path.display())).collect()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((Keymap::new(preset), Vec::new())),
        Err(error) => Err(CommandError::system("read", &path, &error)),
    }
}
