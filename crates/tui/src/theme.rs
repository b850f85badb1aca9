//! Themes: the table of roles, and the style of each on dark, light and monochrome terminals.
//!
//! Parts of the screen ask for a [`Role`] and never for a colour. Roles with a meaning of their own have one of the
//! sixteen colours of the terminal, so that the palette of the user applies; greys, the violets of extensions and all
//! backgrounds are fixed. Meaning never depends on colour alone: the plain theme has no colours at all.

use offshoot_extensions::theme::{Color as ThemeColor, ThemeFile};
use ratatui::style::{Color, Modifier, Style};
use session_view::{Charset, RowStyle};

/// The numbers of the colours that every terminal has.
const BLACK: u8 = 0;
const RED: u8 = 1;
const GREEN: u8 = 2;
const YELLOW: u8 = 3;
const BLUE: u8 = 4;
const MAGENTA: u8 = 5;
const CYAN: u8 = 6;

/// Declares all roles: the name, the meaning, and the style on dark and on light terminals.
macro_rules! roles {
    ($($role:ident $meaning:literal $styles:expr;)*) => {
        /// The meaning of a part of the screen.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Role {
            $(#[doc = $meaning] $role,)*
        }

        impl Role {
            /// All roles, in order.
            const ALL: &'static [Role] = &[$(Role::$role),*];

            fn styles(self) -> [Style; 2] {
                match self { $(Role::$role => $styles),* }
            }
        }
    };
}

roles! {
    Text "Ordinary text." [Style::new(); 2];
    Muted "Less important text." fg(245, 242);
    Dim "Hints and guide lines." fg(240, 248);
    Accent "Parts of the user and of the active path: cursor, dots, prompts." named(CYAN);
    Success "Success, and answers of the model." named(GREEN);
    Warning "Parts that need attention: labels, branch summaries." named(YELLOW);
    Error "Errors." named(RED);
    Border "A line between parts of the screen." fg(238, 250);
    BorderAccent "A highlighted line: compactions, the pane with the keyboard focus." named(CYAN);
    Title "The title of a part of the screen." with(Modifier::BOLD, [Style::new(); 2]);
    Selection "The row of the cursor." bg(237, 254);
    Match "A hit of a query." named(BLACK).map(|style| style.bg(Color::Indexed(YELLOW)));
    Key "A key in a line of help." with(Modifier::BOLD, fg(250, 238));
    Heading "A heading in Markdown." with(Modifier::BOLD, named(YELLOW));
    Link "A link in Markdown." with(Modifier::UNDERLINED, named(BLUE));
    Code "Code inside a line." named(CYAN);
    Quote "A quotation in Markdown." with(Modifier::ITALIC, fg(245, 242));
    Thinking "Thoughts of the model." with(Modifier::ITALIC, fg(245, 242));
    UserMessage "The background of a prompt." bg(236, 255);
    CustomMessage "The background of a message of an extension." bg(53, 225);
    CustomText "The text of a message of an extension." fg(183, 54);
    CustomLabel "The label of a message of an extension." with(Modifier::BOLD, fg(177, 91));
    ToolTitle "The name of a tool and its main argument." with(Modifier::BOLD, [Style::new(); 2]);
    ToolOutput "The output of a tool." fg(245, 242);
    DiffAdded "An added line of a difference." named(GREEN);
    DiffRemoved "A removed line of a difference." named(RED);
    DiffContext "An unchanged line of a difference." fg(245, 242);
    Shell "The border of the editor while a shell command is typed." named(GREEN);
    ThinkingOff "The border of the editor without thinking." fg(238, 250);
    ThinkingLow "The border of the editor at the lowest levels of thinking." named(BLUE);
    ThinkingMedium "The border of the editor at a medium level of thinking." named(CYAN);
    ThinkingHigh "The border of the editor at a high level of thinking." named(MAGENTA);
    ThinkingMax "The border of the editor at the highest levels of thinking." named(RED);
}

fn fg(dark: u8, light: u8) -> [Style; 2] {
    [dark, light].map(|colour| Style::new().fg(Color::Indexed(colour)))
}

fn bg(dark: u8, light: u8) -> [Style; 2] {
    [dark, light].map(|colour| Style::new().bg(Color::Indexed(colour)))
}

fn named(colour: u8) -> [Style; 2] {
    fg(colour, colour)
}

fn with(modifier: Modifier, styles: [Style; 2]) -> [Style; 2] {
    styles.map(|style| style.add_modifier(modifier))
}

/// The colours of a theme that depend on the background of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Palette {
    Dark,
    Light,
    /// No colour at all.
    Plain,
    /// The styles of a theme file, by role. They live as long as the program; there are as many as themes were chosen.
    File(&'static [Style]),
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
        let themes = [("dark", Self::dark()), ("light", Self::light()), ("plain", Self::plain())];
        themes.into_iter().find(|(known, _)| *known == name).map(|(_, theme)| theme)
    }

    /// Returns this theme with the colours of a file. The built-in themes `dark` and `light` are named by files without colours.
    #[must_use]
    pub fn with_file(self, file: &ThemeFile, mode: &str) -> Self {
        let palette = match Self::from_name(&file.name) {
            Some(built_in) if file.colors.is_empty() => built_in.palette,
            _ => {
                let style = |role: &Role| themed(*role, file, mode);
                Palette::File(Vec::leak(Role::ALL.iter().map(style).collect()))
            }
        };
        Self { palette, ..self }
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
            Palette::Dark => role.styles()[0],
            Palette::Light => role.styles()[1],
            Palette::File(styles) => styles.get(role as usize).copied().unwrap_or_default(),
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

/// Returns the style of a role in a theme file: its modifiers stay, its colours are those of a token.
fn themed(role: Role, file: &ThemeFile, mode: &str) -> Style {
    let color = |token: &str| match *file.colors.get(token)? {
        ThemeColor::Default => Some(Color::Reset),
        color if mode == "16color" => Some(Color::Indexed(color.nearest_of_sixteen())),
        ThemeColor::Rgb(red, green, blue) if mode == "truecolor" => Some(Color::Rgb(red, green, blue)),
        color => Some(Color::Indexed(color.nearest())),
    };
    let (text, background) = tokens(role);
    let own = role.styles()[0];
    Style { fg: text.and_then(color), bg: background.and_then(color), ..own }
}

/// Returns the tokens of the text and of the background of a role.
fn tokens(role: Role) -> (Option<&'static str>, Option<&'static str>) {
    let text = match role {
        Role::Selection => return (None, Some("selectedBg")),
        Role::UserMessage => return (None, Some("userMessageBg")),
        Role::CustomMessage => return (None, Some("customMessageBg")),
        Role::Match => return (Some("searchMatchText"), Some("searchMatchBg")),
        Role::Text | Role::Title => "text",
        Role::Muted | Role::Key => "muted",
        Role::Dim => "dim",
        Role::Accent => "accent",
        Role::Success => "success",
        Role::Warning => "warning",
        Role::Error => "error",
        Role::Border => "borderMuted",
        Role::BorderAccent => "borderAccent",
        Role::Heading => "mdHeading",
        Role::Link => "mdLink",
        Role::Code => "mdCode",
        Role::Quote => "mdQuote",
        Role::Thinking => "thinkingText",
        Role::CustomText => "customMessageText",
        Role::CustomLabel => "customMessageLabel",
        Role::ToolTitle => "toolTitle",
        Role::ToolOutput => "toolOutput",
        Role::DiffAdded => "toolDiffAdded",
        Role::DiffRemoved => "toolDiffRemoved",
        Role::DiffContext => "toolDiffContext",
        Role::Shell => "bashMode",
        Role::ThinkingOff => "thinkingOff",
        Role::ThinkingLow => "thinkingLow",
        Role::ThinkingMedium => "thinkingMedium",
        Role::ThinkingHigh => "thinkingHigh",
        Role::ThinkingMax => "thinkingXhigh",
    };
    (Some(text), None)
}

/// Returns the style of a role without any colour.
fn plain(role: Role) -> Style {
    let with = |modifier| Style::new().add_modifier(modifier);
    match role {
        Role::Selection => with(Modifier::REVERSED),
        Role::Match => with(Modifier::UNDERLINED),
        Role::Dim | Role::Muted | Role::Border => with(Modifier::DIM),
        role => Style { fg: None, bg: None, ..role.styles()[0] },
    }
}

#[cfg(test)]
mod tests;
