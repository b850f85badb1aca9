//! The table of actions: the ids of each in the keybindings file, its default keys, its help text, and its screens.

/// A part of the screen that takes keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// The conversation.
    Chat,
    /// The tree selector.
    Tree,
    /// The session picker.
    Picker,
    /// The list of branches.
    Branches,
    /// The question about the branch that a move leaves.
    Summary,
    /// A list to choose from.
    List,
    /// The list of prompts to fork before.
    Fork,
    /// A line to type.
    Line,
    /// A text of many lines to type.
    Editor,
    /// The overlay that lists keys.
    Help,
}

/// A title and the actions that belong together.
pub type Group = (&'static str, &'static [Action]);

/// One line of the table.
struct Entry {
    /// The id in the keybindings file, then the name that old files use.
    ids: &'static [&'static str],
    keys: &'static [&'static str],
    what: &'static str,
}

/// Declares all actions. A key of several actions of a screen belongs to the first one. Help pages list the groups that
/// have a title.
macro_rules! actions {
    ($($title:literal [$($screen:ident)*] {
        $($variant:ident [$($id:literal),+] [$($key:literal),*] $what:literal;)*
    })*) => {
        /// An action that keys can be bound to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(#[doc = concat!("Does this: ", $what, ".")] $variant,)*)*
        }

        impl Action {
            /// All actions.
            pub const ALL: &[Action] = &[$($(Action::$variant),*),*];
        }

        const TABLE: &[Entry] =
            &[$($(Entry { ids: &[$($id),+], keys: &[$($key),*], what: $what }),*),*];

        const GROUPS: &[(&[Screen], Group)] =
            &[$((&[$(Screen::$screen),*], ($title, &[$(Action::$variant),*]))),*];
    };
}

actions! {
    "Move" [Tree Picker Branches Summary List Fork Help] {
        SelectUp ["tui.select.up", "selectUp"] ["up"] "move up";
        SelectDown ["tui.select.down", "selectDown"] ["down"] "move down";
        SelectPageUp ["tui.select.pageUp", "selectPageUp"] ["pageup"] "one page up";
        SelectPageDown ["tui.select.pageDown", "selectPageDown"] ["pagedown"] "one page down";
        SelectFirst ["app.select.first"] ["home"] "go to the first row";
        SelectLast ["app.select.last"] ["end"] "go to the last row";
    }
    "Move" [Tree] {
        TreeFold ["app.tree.foldOrUp", "treeFoldOrUp"] ["ctrl+left", "alt+left"] "fold, or go to the start of the branch";
        TreeUnfold ["app.tree.unfoldOrDown", "treeUnfoldOrDown"] ["ctrl+right", "alt+right"] "unfold, or go to the end of the branch";
        TreeSiblingPrevious ["app.tree.siblingPrevious"] ["["] "previous branch";
        TreeSiblingNext ["app.tree.siblingNext"] ["]"] "next branch";
        TreeSource ["app.tree.source"] ["o"] "go to the source of a pick or merge";
    }
    "Choose" [Tree Picker Branches Summary List Fork Line Help] {
        SelectConfirm ["tui.select.confirm", "selectConfirm"] ["enter"] "choose";
        SelectCancel ["tui.select.cancel", "selectCancel"] ["escape", "ctrl+c"] "go back";
    }
    "Choose" [Tree Picker Branches Help] {
        Help ["app.help"] ["?", "f1"] "show all keys";
    }
    "Choose" [Tree] {
        TreeBranchHere ["app.tree.branchHere"] ["ctrl+b"] "go there without a summary";
    }
    "Use the entry" [Tree] {
        TreeEditLabel ["app.tree.editLabel", "treeEditLabel"] ["shift+l", "f2"] "edit the label";
        TreePick ["app.tree.pick"] ["ctrl+y", "alt+y"] "cherry-pick";
        TreeMerge ["app.tree.merge"] ["ctrl+g", "alt+g"] "merge the branch";
        TreeFork ["app.tree.fork"] ["ctrl+f", "alt+f"] "fork into a new session";
        TreeExport ["app.tree.export"] ["ctrl+e", "alt+e"] "export the branch";
    }
    "Show" [Tree] {
        TreePreview ["app.tree.preview"] ["tab", "space"] "show or hide the preview";
        TreePreviewUp ["app.tree.previewUp"] ["shift+pageup", "alt+pageup"] "preview up";
        TreePreviewDown ["app.tree.previewDown"] ["shift+pagedown", "alt+pagedown"] "preview down";
        TreeLabelTimes ["app.tree.toggleLabelTimestamp", "treeToggleLabelTimestamp"] ["shift+t", "f3"] "show times of labels";
        TreeFilterNext ["app.tree.filter.cycleForward"] ["alt+o"] "next filter";
        TreeFilterPrevious ["app.tree.filter.cycleBackward"] ["shift+alt+o"] "previous filter";
        TreeFilterDefault ["app.tree.filter.default"] ["ctrl+d"] "show the conversation";
        TreeFilterNoTools ["app.tree.filter.noTools"] ["ctrl+t"] "without tools";
        TreeFilterUser ["app.tree.filter.userOnly"] ["ctrl+u"] "only prompts";
        TreeFilterLabeled ["app.tree.filter.labeledOnly"] ["ctrl+l"] "only labels";
        TreeFilterAll ["app.tree.filter.all"] ["ctrl+o", "ctrl+a"] "everything";
        TreeFilterTurns ["app.tree.filter.turns"] ["alt+t"] "one row per turn";
        TreeFilterBranches ["app.tree.filter.branches"] ["alt+b"] "only branch points and tips";
    }
    "Sessions" [Picker] {
        PickerScope ["app.session.toggleScope"] ["tab"] "this folder or all";
        PickerSort ["app.session.toggleSort", "toggleSessionSort"] ["ctrl+s"] "change the order";
        PickerNamed ["app.session.toggleNamedFilter", "toggleSessionNamedFilter"] ["ctrl+n"] "only sessions with a name";
        PickerPath ["app.session.togglePath", "toggleSessionPath"] ["ctrl+p"] "show paths";
        PickerPreview ["app.session.preview"] ["ctrl+o", "f3"] "show or hide the preview";
        PickerBranches ["app.session.branches"] ["ctrl+b"] "choose a branch of it";
        PickerRename ["app.session.rename", "renameSession"] ["ctrl+r"] "rename";
        PickerDelete ["app.session.delete", "deleteSession"] ["ctrl+d"] "move to the trash";
        PickerDeleteIdle ["app.session.deleteNoninvasive", "deleteSessionNoninvasive"] ["ctrl+backspace"] "move to the trash, unless a query is typed";
        PickerUndo ["app.session.undoDelete"] ["ctrl+z"] "take out of the trash";
    }
    "Branches" [Branches] {
        BranchSummarize ["app.branches.summarize"] ["s"] "switch with a summary";
        BranchMerge ["app.branches.merge"] ["m"] "merge it here";
        BranchPick ["app.branches.pick"] ["p"] "pick from it";
        BranchLabel ["app.branches.label"] ["l"] "label it";
        BranchHide ["app.branches.hide"] ["x"] "hide it from lists";
        BranchExport ["app.branches.export"] ["e"] "export it";
        BranchDiff ["app.branches.diff"] ["d"] "compare it";
        BranchSearch ["app.branches.search"] ["/"] "search";
    }
    "" [Fork] {
        ForkScope ["app.fork.toggleScope"] ["tab"] "this branch or all";
    }
    "" [Summary] {
        SummaryRemember ["app.summary.remember"] ["a"] "remember for this session";
        SummaryLabel ["app.summary.label"] ["l", "f2"] "put a label";
    }
    "" [] {
        ReviewEdit ["app.review.edit"] ["e"] "edit the text";
        ReviewMode ["app.review.mode"] ["m"] "change the mode";
        ReviewFocus ["app.review.focus"] ["f"] "set a focus";
        ReviewDiff ["app.review.diff"] ["d"] "show the full difference";
    }
    "Conversation" [Chat Editor] {
        Submit ["tui.input.submit", "submit"] ["enter"] "send";
        NewLine ["tui.input.newLine", "newLine"] ["shift+enter", "ctrl+j"] "new line";
    }
    "Conversation" [Chat] {
        FollowUp ["app.message.followUp", "followUp"] ["alt+enter"] "send when all is done";
        Dequeue ["app.message.dequeue", "dequeue"] ["alt+up"] "take queued messages back";
        Interrupt ["app.interrupt", "interrupt"] ["escape"] "stop, or go back";
        Clear ["app.clear", "clear"] ["ctrl+c"] "clear the editor; twice quits";
        Exit ["app.exit", "exit"] ["ctrl+d"] "quit when the editor is empty";
        Suspend ["app.suspend", "suspend"] ["ctrl+z"] "suspend";
        ExternalEditor ["app.editor.external", "externalEditor"] ["ctrl+g"] "open an external editor";
        PasteImage ["app.clipboard.pasteImage", "pasteImage"] ["ctrl+v"] "paste an image";
    }
    "View" [Chat] {
        ToolsExpand ["app.tools.expand", "expandTools"] ["ctrl+o"] "show or hide tool output";
        ThinkingToggle ["app.thinking.toggle", "toggleThinking"] ["ctrl+t"] "show or hide thoughts";
    }
    "Copy" [Tree] {
        TreeCopyId ["app.tree.copyId"] ["ctrl+k"] "copy the id";
    }
    "Copy" [Tree Chat] {
        MessageCopy ["app.message.copy"] ["ctrl+x"] "copy the text";
    }
    "Sessions" [Chat] {
        LeafBack ["app.leaf.back"] ["alt+,"] "go back to the previous position";
        LeafForward ["app.leaf.forward"] ["alt+."] "go forward again";
        SessionNew ["app.session.new", "newSession"] [] "new session";
        SessionTree ["app.session.tree", "tree"] [] "open the tree";
        SessionFork ["app.session.fork", "fork"] [] "fork";
        SessionResume ["app.session.resume", "resume"] [] "open another session";
    }
    "Models" [Chat] {
        ModelSelect ["app.model.select", "selectModel"] ["ctrl+l"] "choose a model";
        ModelCycleForward ["app.model.cycleForward", "cycleModelForward"] ["ctrl+p"] "next model";
        ModelCycleBackward ["app.model.cycleBackward", "cycleModelBackward"] ["shift+ctrl+p"] "previous model";
        ThinkingCycle ["app.thinking.cycle", "cycleThinkingLevel"] ["shift+tab"] "next thinking level";
    }
    "" [Tree Line Editor] {
        CursorLeft ["tui.editor.cursorLeft", "cursorLeft"] ["left", "ctrl+b"] "cursor left";
        CursorRight ["tui.editor.cursorRight", "cursorRight"] ["right", "ctrl+f"] "cursor right";
    }
    "" [Tree Picker Branches List Fork Line Editor] {
        DeleteBackward ["tui.editor.deleteCharBackward", "deleteCharBackward"] ["backspace", "shift+backspace", "ctrl+h"] "delete the character before";
        DeleteWordBackward ["tui.editor.deleteWordBackward", "deleteWordBackward"] ["ctrl+w", "alt+backspace", "ctrl+backspace"] "delete the word before";
    }
    "The editor" [Line Chat Editor] {
        CursorWordLeft ["tui.editor.cursorWordLeft", "cursorWordLeft"] ["alt+left", "ctrl+left", "alt+b"] "one word left";
        CursorWordRight ["tui.editor.cursorWordRight", "cursorWordRight"] ["alt+right", "ctrl+right", "alt+f"] "one word right";
        CursorLineStart ["tui.editor.cursorLineStart", "cursorLineStart"] ["home", "ctrl+a"] "start of the line";
        CursorLineEnd ["tui.editor.cursorLineEnd", "cursorLineEnd"] ["end", "ctrl+e"] "end of the line";
        DeleteForward ["tui.editor.deleteCharForward", "deleteCharForward"] ["delete", "ctrl+d"] "delete the character after";
        DeleteWordForward ["tui.editor.deleteWordForward", "deleteWordForward"] ["alt+d", "alt+delete"] "delete the word after";
        DeleteToLineStart ["tui.editor.deleteToLineStart", "deleteToLineStart"] ["ctrl+u"] "delete to the start of the line";
        DeleteToLineEnd ["tui.editor.deleteToLineEnd", "deleteToLineEnd"] ["ctrl+k"] "delete to the end of the line";
    }
    "The editor" [Chat Editor] {
        Yank ["tui.editor.yank", "yank"] ["ctrl+y"] "insert what was deleted";
        Undo ["tui.editor.undo", "undo"] ["ctrl+-", "ctrl+_", "ctrl+7"] "undo";
    }
    "The editor" [Chat] {
        Complete ["tui.input.tab", "tab"] ["tab"] "complete";
    }
    "" [Chat Editor] {
        CursorUp ["tui.editor.cursorUp", "cursorUp"] ["up"] "cursor up";
        CursorDown ["tui.editor.cursorDown", "cursorDown"] ["down"] "cursor down";
        EditorPageUp ["tui.editor.pageUp", "pageUp"] ["pageup"] "one page up";
        EditorPageDown ["tui.editor.pageDown", "pageDown"] ["pagedown"] "one page down";
    }
}

/// Actions of pi without an effect here, under their ids and old names. Its keybindings files may bind them.
const ONLY_IN_PI: &[&str] = &[
    "tui.editor.jumpForward",
    "jumpForward",
    "tui.editor.jumpBackward",
    "jumpBackward",
    "tui.editor.yankPop",
    "yankPop",
    "tui.input.copy",
    "copy",
    "app.thinking.save",
];

impl Action {
    fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    /// Returns the id that the keybindings file uses.
    pub fn id(self) -> &'static str {
        self.entry().ids[0]
    }

    /// Returns a few words for help pages.
    pub fn what(self) -> &'static str {
        self.entry().what
    }

    /// Returns the keys that are bound by default.
    pub fn default_keys(self) -> &'static [&'static str] {
        self.entry().keys
    }

    /// Finds an action by its id, or by the short name of old keybindings files.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.entry().ids.contains(&id))
    }
}

impl Screen {
    /// Returns the actions of the screen, in order of precedence.
    pub fn actions(self) -> Vec<Action> {
        self.all_groups().flat_map(|(_, actions)| actions).copied().collect()
    }

    /// Returns the groups that a help page lists.
    pub fn groups(self) -> Vec<Group> {
        self.all_groups().filter(|(title, _)| !title.is_empty()).collect()
    }

    fn all_groups(self) -> impl Iterator<Item = Group> {
        GROUPS.iter().filter(move |(screens, _)| screens.contains(&self)).map(|(_, group)| *group)
    }
}

/// Returns true if pi has an action with this id, or short name, that has no effect here.
pub(super) fn is_only_in_pi(id: &str) -> bool {
    ONLY_IN_PI.contains(&id)
}
