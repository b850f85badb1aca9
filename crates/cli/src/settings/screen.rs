//! What a person may choose about the conversation at the terminal: colours, keys, and how the tree opens.

use offshoot_tui::chat::DoubleEscape;
use offshoot_tui::keys::Preset;
use offshoot_tui::theme::Theme;
use schemars::JsonSchema;
use serde::Deserialize;
use session_tree::Filter;

use super::Settings;

/// Which colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ThemeName {
    /// Those that suit the background of the terminal.
    #[default]
    Auto,
    /// Those for a dark background.
    Dark,
    /// Those for a light background.
    Light,
    /// None at all.
    Plain,
}

/// Which keys are usual; `keybindings.json` goes over them.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeymapName {
    /// Ours.
    Offshoot,
    /// As pi has them: Ctrl+O goes through the filters of the tree.
    Pi,
}

/// What Escape does when it is pressed twice in an empty editor.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EscapeAction {
    /// The tree opens.
    Tree,
    /// An entry is chosen to go on from in a new session.
    Fork,
    /// Nothing.
    None,
}

/// Which entries the tree shows at first.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FilterName {
    /// The conversation.
    Default,
    /// The conversation without tools.
    NoTools,
    /// Only prompts.
    UserOnly,
    /// Only entries with a label.
    LabeledOnly,
    /// Everything.
    All,
    /// One row per turn.
    Turns,
    /// Only branch points and tips.
    Branches,
}

impl Settings {
    /// Returns the colours that were chosen; none if the terminal decides.
    pub(crate) fn theme(&self) -> Option<Theme> {
        match self.pick(|file| file.theme).unwrap_or_default() {
            ThemeName::Auto => None,
            ThemeName::Dark => Some(Theme::dark()),
            ThemeName::Light => Some(Theme::light()),
            ThemeName::Plain => Some(Theme::plain()),
        }
    }

    /// Returns the keys that are usual.
    pub(crate) fn keymap(&self) -> Preset {
        match self.pick(|file| file.keymap) {
            Some(KeymapName::Pi) => Preset::Pi,
            Some(KeymapName::Offshoot) | None => Preset::Offshoot,
        }
    }

    /// Returns what Escape does when it is pressed twice.
    pub(crate) fn double_escape(&self) -> DoubleEscape {
        match self.pick(|file| file.double_escape_action) {
            Some(EscapeAction::Tree) | None => DoubleEscape::Tree,
            Some(EscapeAction::Fork) => DoubleEscape::Fork,
            Some(EscapeAction::None) => DoubleEscape::Nothing,
        }
    }

    /// Returns true if the user has set that Escape twice opens the tree; the default does not count.
    pub(crate) fn chooses_tree(&self) -> bool {
        matches!(self.pick(|file| file.double_escape_action), Some(EscapeAction::Tree))
    }

    /// Returns which entries the tree shows at first.
    pub(crate) fn tree_filter(&self) -> Filter {
        match self.pick(|file| file.tree_filter_mode) {
            Some(FilterName::Default) | None => Filter::Default,
            Some(FilterName::NoTools) => Filter::NoTools,
            Some(FilterName::UserOnly) => Filter::UserOnly,
            Some(FilterName::LabeledOnly) => Filter::LabeledOnly,
            Some(FilterName::All) => Filter::All,
            Some(FilterName::Turns) => Filter::Turns,
            Some(FilterName::Branches) => Filter::Branches,
        }
    }

    /// Returns true if the chat shows that a hook cancelled a command.
    pub(crate) fn shows_hook_cancel(&self) -> bool {
        self.pick(|file| file.show_hook_cancel).unwrap_or(false)
    }

    /// Tells whether branches are left without a question what to tell of them.
    pub(crate) fn skips_summary_question(&self) -> bool {
        self.pick(|file| file.branch_summary.skip_prompt).unwrap_or(false)
    }
}
