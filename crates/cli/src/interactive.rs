//! A conversation at the terminal: `offshoot` without a command.
//!
//! arguments -> agent, services -> **`offshoot_tui::app`** -> the position is kept
//!
//! The chat is in the terminal crate, and the agent in its own; this module connects them with the rest of the program.

mod presence;
mod services;
pub(crate) mod trash;

use offshoot_agent::event::Events;
use offshoot_agent::permission::Mode;
use offshoot_agent::tools::ToolBox;
use offshoot_tui::app::{self as chat, Environment, Services};
use offshoot_tui::theme::Theme;
use session_view::Charset;

use crate::app::App;
use crate::cmd::spawn;
use crate::error::{CommandError, Failure};
use crate::extensions::Sources;
use crate::mcp::ToolServers;
use crate::setup::Setup;
use crate::talk;
use services::ChatServices;

pub(crate) use offshoot_tui::app::is_terminal as is_possible;

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
    app.databases.continue_offline();
    let agent = args.agent_for(&setup, Mode::AskFor, Events::default(), app)?;
    let agent = spawn(agent)?;
    let servers = ToolServers::start(args, &setup, &agent)?;
    servers.problems().iter().try_for_each(|problem| app.ui.tell(&format!("warning: {problem}")))?;
    app.ui.flush()?;
    let app: &App = app;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::system("start", "the runtime".as_ref(), &error))?;
    let (theme, environment) = (theme(app, &setup), environment(app, &setup));
    let (themes, odd_themes) = setup.themes(app, &agent.state().resources.themes);
    let theme = match themes.current().1 {
        Some(file) if !app.ui.is_plain() => theme.with_file(&file, themes.mode()),
        _ => theme,
    };
    let services = Box::new(ChatServices::new(app, args, setup, sources, servers, themes)?);
    let settings = services.settings().map_err(Failure::new)?;
    let is_saved = runtime.block_on(async {
        let terminal = |error| CommandError::system("use", "the terminal".as_ref(), &error);
        let commands = crate::slash::specs();
        let mut chat = chat::App::new(agent.clone(), theme, commands, environment, settings, services)
            .map_err(terminal)?;
        odd_themes.iter().for_each(|problem| chat.warn_about(problem));
        chat.open();
        if args.opens_picker() {
            chat.open_sessions();
        }
        if let Some(text) = args.first_prompt() {
            chat.follow_up(&text);
        }
        if let Some(text) = introduction {
            chat.introduce(text);
        }
        let ended = chat.run().await.map_err(terminal);
        agent.quit().await?;
        let is_saved = agent.read(|session| session.file().is_some() && session.is_saved());
        if agent.read(|session| session.notice().is_some()) {
            crate::ui::words(
                "the last entries wait in a local file; they go to the database when it is used next",
            );
        }
        ended.map(|()| is_saved)
    });
    // Threads that still read for the screen may stop at any point.
    runtime.shutdown_background();
    is_saved
}

/// Chooses the colours: none, those of the settings, or those that match the terminal.
fn theme(app: &App, setup: &Setup) -> Theme {
    let variable = || app.env.colours().as_deref().and_then(Theme::for_colorfgbg);
    let theme = match setup.settings.theme().or_else(variable) {
        _ if app.ui.is_plain() => Theme::plain(),
        Some(theme) => theme,
        None => chat::terminal_theme().unwrap_or_default(),
    };
    theme.with_charset(if app.env.is_ascii { Charset::Ascii } else { Charset::Unicode })
}

fn environment(app: &App, setup: &Setup) -> Environment {
    let env = app.env.clone();
    Environment {
        cwd: setup.cwd.clone(),
        home: env.home(),
        editor: env.editor(),
        zone: env.zone(),
        is_plain: app.ui.is_plain(),
        now: Box::new(move || env.now()),
    }
}
