//! Themes: what a thing on the screen is, as a style of the terminal.
//!
//! Parts of the screen ask for a [`Role`] and never for a colour. What has a meaning of its own has one of the sixteen
//! colours of the terminal, so that a person's own palette counts; the greys of what matters less, the violets of
//! extensions and all backgrounds are chosen by us. Meaning never depends on colour alone: the plain theme has no
//! colours at all.

use ratatui::style::{Color, Modifier, Style};
use session_tree::{Charset, RowStyle};

/// What a thing on the screen is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Text that matters less.
    Muted,
    /// Text that hardly matters: hints, guide lines.
    Dim,
    /// What belongs to the person or to the active path: cursor, dots, prompts.
    Accent,
    /// What went well; answers of the model.
    Success,
    /// What asks for attention: labels, branch summaries.
    Warning,
    /// What went wrong.
    Error,
    /// A line between parts of the screen.
    Border,
    /// A line that stands out: compactions, the pane with the keyboard.
    BorderAccent,
    /// The title of a part of the screen.
    Title,
    /// The row the cursor is on.
    Selection,
    /// What a query found.
    Match,
    /// A key in a line of help.
    Key,
    /// A heading in Markdown.
    Heading,
    /// A link in Markdown.
    Link,
    /// Code inside a line.
    Code,
    /// A quotation in Markdown.
    Quote,
    /// Thoughts of the model.
    Thinking,
    /// The background of a prompt.
    UserMessage,
    /// The background of a message of an extension.
    CustomMessage,
    /// The text of a message of an extension.
    CustomText,
    /// The label of a message of an extension.
    CustomLabel,
    /// The background of a tool that runs.
    ToolPending,
    /// The background of a tool that went well.
    ToolDone,
    /// The background of a tool that failed.
    ToolFailed,
    /// The name of a tool and its main argument.
    ToolTitle,
    /// What a tool returned.
    ToolOutput,
    /// A line that a change added.
    DiffAdded,
    /// A line that a change removed.
    DiffRemoved,
    /// A line that a change left alone.
    DiffContext,
    /// The border of the editor while a shell command is typed.
    Shell,
    /// The border of the editor without thinking.
    ThinkingOff,
    /// The border of the editor at the lowest levels of thinking.
    ThinkingLow,
    /// The border of the editor at a medium level of thinking.
    ThinkingMedium,
    /// The border of the editor at a high level of thinking.
    ThinkingHigh,
    /// The border of the editor at the highest levels of thinking.
    ThinkingMax,
}

/// The colours of a theme that depend on the background of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Palette {
    Dark,
    Light,
    /// No colour at all.
    Plain,
}

/// How things on the screen look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    palette: Palette,
    /// The characters that lines and marks are drawn with.
    pub charset: Charset,
}

impl Default for Theme {
    fn default() -> Self {
        Self::dark()
    }
}

impl Role {
    /// Returns what a line of a difference is.
    pub fn of_diff(line: &str) -> Self {
        match line.as_bytes().first() {
            Some(b'+') => Role::DiffAdded,
            Some(b'-') => Role::DiffRemoved,
            _ => Role::DiffContext,
        }
    }
}

impl Theme {
    /// Returns the theme for dark terminals.
    pub fn dark() -> Self {
        Self { palette: Palette::Dark, charset: Charset::Unicode }
    }

    /// Returns the theme for light terminals.
    pub fn light() -> Self {
        Self { palette: Palette::Light, ..Self::dark() }
    }

    /// Returns the theme without colours, as `NO_COLOR` asks for.
    pub fn plain() -> Self {
        Self { palette: Palette::Plain, ..Self::dark() }
    }

    /// Finds a theme by its name: `dark`, `light`, or `plain`; `auto` is not one, see [`Theme::for_background`].
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "dark" => Some(Self::dark()),
            "light" => Some(Self::light()),
            "plain" => Some(Self::plain()),
            _ => None,
        }
    }

    /// Chooses the theme that suits a terminal with this background.
    pub fn for_background(red: u8, green: u8, blue: u8) -> Self {
        let brightness = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
        if brightness > 128 * 1000 { Self::light() } else { Self::dark() }
    }

    /// Chooses by the variable `COLORFGBG` that some terminals set, such as `15;0`; its last number is the background.
    pub fn for_colorfgbg(value: &str) -> Option<Self> {
        let background: u8 = value.rsplit(';').next()?.trim().parse().ok()?;
        let light = matches!(background, 7 | 9..=15);
        Some(if light { Self::light() } else { Self::dark() })
    }

    /// Returns the theme with other characters for lines and marks.
    #[must_use]
    pub fn with_charset(self, charset: Charset) -> Self {
        Self { charset, ..self }
    }

    /// Tells whether the theme is for light terminals.
    pub fn is_light(self) -> bool {
        self.palette == Palette::Light
    }

    /// Returns one of two texts, depending on the characters the terminal can show.
    pub fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        match self.charset {
            Charset::Unicode => unicode,
            Charset::Ascii => ascii,
        }
    }

    /// Returns how a thing is drawn.
    pub fn style(self, role: Role) -> Style {
        match self.palette {
            Palette::Plain => plain(role),
            Palette::Dark => coloured(role, |dark, _| dark),
            Palette::Light => coloured(role, |_, light| light),
        }
    }

    /// Returns how the text of a row of the tree is drawn.
    pub fn row_style(self, style: RowStyle) -> Style {
        let italic = Style::new().add_modifier(Modifier::ITALIC);
        match style {
            RowStyle::User => self.style(Role::Accent),
            RowStyle::Assistant => self.style(Role::Success),
            RowStyle::Error => self.style(Role::Error),
            RowStyle::Tool | RowStyle::Muted => self.style(Role::Muted),
            RowStyle::Custom => self.style(Role::CustomLabel),
            RowStyle::Compaction => self.style(Role::BorderAccent),
            RowStyle::Summary => self.style(Role::Warning),
            RowStyle::Title => self.style(Role::Muted).patch(italic),
        }
    }
}

/// The style of a role; `pick` chooses between the number of a colour for dark and one for light terminals.
fn coloured(role: Role, pick: fn(u8, u8) -> u8) -> Style {
    let on = |dark, light| Style::new().bg(Color::Indexed(pick(dark, light)));
    let fg = |dark, light| Style::new().fg(Color::Indexed(pick(dark, light)));
    let named = |colour| Style::new().fg(colour);
    match role {
        Role::Text => Style::new(),
        Role::Muted | Role::ToolOutput | Role::DiffContext => fg(245, 242),
        Role::Thinking | Role::Quote => fg(245, 242).add_modifier(Modifier::ITALIC),
        Role::Dim => fg(240, 248),
        Role::Border | Role::ThinkingOff => fg(238, 250),
        Role::Accent | Role::BorderAccent | Role::ThinkingMedium => named(Color::Cyan),
        Role::Success | Role::DiffAdded | Role::Shell => named(Color::Green),
        Role::Warning => named(Color::Yellow),
        Role::Error | Role::DiffRemoved => named(Color::Red),
        Role::Title | Role::ToolTitle => Style::new().add_modifier(Modifier::BOLD),
        Role::Heading => named(Color::Yellow).add_modifier(Modifier::BOLD),
        Role::Key => fg(250, 238).add_modifier(Modifier::BOLD),
        Role::Link => named(Color::Blue).add_modifier(Modifier::UNDERLINED),
        Role::Code => named(Color::Cyan),
        Role::Selection => on(237, 254),
        Role::Match => named(Color::Black).bg(Color::Yellow),
        Role::UserMessage => on(236, 255),
        Role::CustomMessage => on(53, 225),
        Role::CustomText => fg(183, 54),
        Role::CustomLabel => fg(177, 91).add_modifier(Modifier::BOLD),
        Role::ToolPending => on(235, 255),
        Role::ToolDone => on(22, 194),
        Role::ToolFailed => on(52, 224),
        Role::ThinkingLow => named(Color::Blue),
        Role::ThinkingHigh => named(Color::Magenta),
        Role::ThinkingMax => named(Color::Red),
    }
}

/// The style of a role without any colour.
fn plain(role: Role) -> Style {
    let with = |modifier| Style::new().add_modifier(modifier);
    match role {
        Role::Selection => with(Modifier::REVERSED),
        Role::Match | Role::Link => with(Modifier::UNDERLINED),
        Role::Title | Role::Heading | Role::Key | Role::ToolTitle | Role::CustomLabel => with(Modifier::BOLD),
        Role::Quote | Role::Thinking => with(Modifier::ITALIC),
        Role::Dim | Role::Muted | Role::Border => with(Modifier::DIM),
        Role::Text
        | Role::Accent
        | Role::Success
        | Role::Warning
        | Role::Error
        | Role::BorderAccent
        | Role::Code
        | Role::UserMessage
        | Role::CustomMessage
        | Role::CustomText
        | Role::ToolPending
        | Role::ToolDone
        | Role::ToolFailed
        | Role::ToolOutput
        | Role::DiffAdded
        | Role::DiffRemoved
        | Role::DiffContext
        | Role::Shell
        | Role::ThinkingOff
        | Role::ThinkingLow
        | Role::ThinkingMedium
        | Role::ThinkingHigh
        | Role::ThinkingMax => Style::new(),
    }
}

#[cfg(test)]
mod tests;
