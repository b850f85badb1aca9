//! Actions: what a key can do, with the id that the keybindings file uses and the keys that are bound by default.

/// Declares all actions: variant, id, default keys, what it does.
macro_rules! actions {
    ($($variant:ident $id:literal [$($key:literal),*] $what:literal;)*) => {
        /// What a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = concat!("`", $id, "`: ", $what, ".")] $variant,)*
        }

        impl Action {
            /// All actions, in the order of help screens.
            pub const ALL: &[Action] = &[$(Action::$variant),*];

            /// Returns the id that the keybindings file uses.
            pub fn id(self) -> &'static str {
                match self { $(Action::$variant => $id),* }
            }

            /// Returns what the action does, in a few words.
            pub fn what(self) -> &'static str {
                match self { $(Action::$variant => $what),* }
            }

            /// Returns the keys that are bound by default.
            pub fn default_keys(self) -> &'static [&'static str] {
                match self { $(Action::$variant => &[$($key),*]),* }
            }
        }
    };
}

actions! {
    // Lists.
    SelectUp "tui.select.up" ["up"] "move up";
    SelectDown "tui.select.down" ["down"] "move down";
    SelectPageUp "tui.select.pageUp" ["pageup"] "one page up";
    SelectPageDown "tui.select.pageDown" ["pagedown"] "one page down";
    SelectFirst "app.select.first" ["home"] "go to the first row";
    SelectLast "app.select.last" ["end"] "go to the last row";
    SelectConfirm "tui.select.confirm" ["enter"] "choose";
    SelectCancel "tui.select.cancel" ["escape", "ctrl+c"] "go back";
    Help "app.help" ["?", "f1"] "show all keys";

    // The editor and one-line inputs.
    CursorUp "tui.editor.cursorUp" ["up"] "cursor up";
    CursorDown "tui.editor.cursorDown" ["down"] "cursor down";
    CursorLeft "tui.editor.cursorLeft" ["left", "ctrl+b"] "cursor left";
    CursorRight "tui.editor.cursorRight" ["right", "ctrl+f"] "cursor right";
    CursorWordLeft "tui.editor.cursorWordLeft" ["alt+left", "ctrl+left", "alt+b"] "one word left";
    CursorWordRight "tui.editor.cursorWordRight" ["alt+right", "ctrl+right", "alt+f"] "one word right";
    CursorLineStart "tui.editor.cursorLineStart" ["home", "ctrl+a"] "start of the line";
    CursorLineEnd "tui.editor.cursorLineEnd" ["end", "ctrl+e"] "end of the line";
    EditorPageUp "tui.editor.pageUp" ["pageup"] "one page up";
    EditorPageDown "tui.editor.pageDown" ["pagedown"] "one page down";
    DeleteBackward "tui.editor.deleteCharBackward" ["backspace", "shift+backspace", "ctrl+h"] "delete the character before";
    DeleteForward "tui.editor.deleteCharForward" ["delete", "ctrl+d"] "delete the character after";
    DeleteWordBackward "tui.editor.deleteWordBackward" ["ctrl+w", "alt+backspace", "ctrl+backspace"] "delete the word before";
    DeleteWordForward "tui.editor.deleteWordForward" ["alt+d", "alt+delete"] "delete the word after";
    DeleteToLineStart "tui.editor.deleteToLineStart" ["ctrl+u"] "delete to the start of the line";
    DeleteToLineEnd "tui.editor.deleteToLineEnd" ["ctrl+k"] "delete to the end of the line";
    Yank "tui.editor.yank" ["ctrl+y"] "insert what was deleted";
    Undo "tui.editor.undo" ["ctrl+-", "ctrl+_", "ctrl+7"] "undo";
    NewLine "tui.input.newLine" ["shift+enter", "ctrl+j"] "new line";
    Submit "tui.input.submit" ["enter"] "send";
    Complete "tui.input.tab" ["tab"] "complete";

    // The conversation.
    Interrupt "app.interrupt" ["escape"] "stop, or go back";
    Clear "app.clear" ["ctrl+c"] "clear the editor; twice quits";
    Exit "app.exit" ["ctrl+d"] "quit when the editor is empty";
    Suspend "app.suspend" ["ctrl+z"] "suspend";
    ThinkingCycle "app.thinking.cycle" ["shift+tab"] "next thinking level";
    ThinkingToggle "app.thinking.toggle" ["ctrl+t"] "show or hide thoughts";
    ModelCycleForward "app.model.cycleForward" ["ctrl+p"] "next model";
    ModelCycleBackward "app.model.cycleBackward" ["shift+ctrl+p"] "previous model";
    ModelSelect "app.model.select" ["ctrl+l"] "choose a model";
    ToolsExpand "app.tools.expand" ["ctrl+o"] "show or hide tool output";
    ExternalEditor "app.editor.external" ["ctrl+g"] "open an external editor";
    MessageCopy "app.message.copy" ["ctrl+x"] "copy the text";
    FollowUp "app.message.followUp" ["alt+enter"] "send when all is done";
    Dequeue "app.message.dequeue" ["alt+up"] "take queued messages back";
    PasteImage "app.clipboard.pasteImage" ["ctrl+v"] "paste an image";
    SessionNew "app.session.new" [] "new session";
    SessionTree "app.session.tree" [] "open the tree";
    SessionFork "app.session.fork" [] "fork";
    SessionResume "app.session.resume" [] "open another session";
    LeafBack "app.leaf.back" ["alt+,"] "back to where the leaf was";
    LeafForward "app.leaf.forward" ["alt+."] "forward again";

    // The tree.
    TreeFold "app.tree.foldOrUp" ["ctrl+left", "alt+left"] "fold, or to the start of the branch";
    TreeUnfold "app.tree.unfoldOrDown" ["ctrl+right", "alt+right"] "unfold, or to the end of the branch";
    TreeEditLabel "app.tree.editLabel" ["shift+l", "f2"] "edit the label";
    TreeLabelTimes "app.tree.toggleLabelTimestamp" ["shift+t", "f3"] "show times of labels";
    TreeFilterDefault "app.tree.filter.default" ["ctrl+d"] "show the conversation";
    TreeFilterNoTools "app.tree.filter.noTools" ["ctrl+t"] "without tools";
    TreeFilterUser "app.tree.filter.userOnly" ["ctrl+u"] "only prompts";
    TreeFilterLabeled "app.tree.filter.labeledOnly" ["ctrl+l"] "only labels";
    TreeFilterAll "app.tree.filter.all" ["ctrl+o", "ctrl+a"] "everything";
    TreeFilterTurns "app.tree.filter.turns" ["alt+t"] "one row per turn";
    TreeFilterBranches "app.tree.filter.branches" ["alt+b"] "only branch points and tips";
    TreeFilterErrors "app.tree.filter.errors" ["alt+x"] "only what failed";
    TreeFilterFiles "app.tree.filter.files" ["alt+i"] "only what touched files";
    TreeFilterNext "app.tree.filter.cycleForward" ["alt+o"] "next filter";
    TreeFilterPrevious "app.tree.filter.cycleBackward" ["shift+alt+o"] "previous filter";
    TreeBranchHere "app.tree.branchHere" ["ctrl+b"] "go there without a summary";
    TreePreview "app.tree.preview" ["tab", "space"] "show or hide the preview";
    TreePreviewUp "app.tree.previewUp" ["shift+pageup", "alt+pageup"] "preview up";
    TreePreviewDown "app.tree.previewDown" ["shift+pagedown", "alt+pagedown"] "preview down";
    TreePick "app.tree.pick" ["ctrl+y", "alt+y"] "cherry-pick";
    TreeMerge "app.tree.merge" ["ctrl+g", "alt+g"] "merge the branch";
    TreeExport "app.tree.export" ["ctrl+e", "alt+e"] "export the branch";
    TreeFork "app.tree.fork" ["ctrl+f", "alt+f"] "fork into a new session";
    TreeCopyId "app.tree.copyId" ["ctrl+k"] "copy the id";
    TreeExtendUp "app.tree.extendUp" ["shift+up"] "select more above";
    TreeExtendDown "app.tree.extendDown" ["shift+down"] "select more below";
    TreeSource "app.tree.source" ["o"] "to the source of a pick or merge";
    TreeSiblingPrevious "app.tree.siblingPrevious" ["["] "previous branch";
    TreeSiblingNext "app.tree.siblingNext" ["]"] "next branch";

    // The fork selector.
    ForkScope "app.fork.toggleScope" ["tab"] "this branch or all";

    // The session picker.
    PickerScope "app.session.toggleScope" ["tab"] "this folder or all";
    PickerSort "app.session.toggleSort" ["ctrl+s"] "change the order";
    PickerNamed "app.session.toggleNamedFilter" ["ctrl+n"] "only sessions with a name";
    PickerPath "app.session.togglePath" ["ctrl+p"] "show paths";
    PickerRename "app.session.rename" ["ctrl+r"] "rename";
    PickerDelete "app.session.delete" ["ctrl+d"] "move to the trash";
    PickerDeleteIdle "app.session.deleteNoninvasive" ["ctrl+backspace"] "move to the trash, without a query";
    PickerUndo "app.session.undoDelete" ["ctrl+z"] "take out of the trash";
    PickerBranches "app.session.branches" ["ctrl+b"] "choose a branch of it";
    PickerPreview "app.session.preview" ["ctrl+o", "f3"] "show or hide the preview";

    // Dialogs.
    ReviewEdit "app.review.edit" ["e"] "edit the text";
    ReviewMode "app.review.mode" ["m"] "change the mode";
    ReviewFocus "app.review.focus" ["f"] "set a focus";
    ReviewDiff "app.review.diff" ["d"] "show the full difference";
    SummaryRemember "app.summary.remember" ["a"] "remember for this session";
    SummaryLabel "app.summary.label" ["l", "f2"] "put a label";

    // The list of branches.
    BranchSummarize "app.branches.summarize" ["s"] "switch with a summary";
    BranchMerge "app.branches.merge" ["m"] "merge it here";
    BranchPick "app.branches.pick" ["p"] "pick from it";
    BranchLabel "app.branches.label" ["l"] "label it";
    BranchHide "app.branches.hide" ["x"] "hide it from lists";
    BranchExport "app.branches.export" ["e"] "export it";
    BranchDiff "app.branches.diff" ["d"] "compare it";
    BranchSearch "app.branches.search" ["/"] "search";
}

impl Action {
    /// Finds an action by its id, or by the short name of old keybindings files.
    pub fn from_id(id: &str) -> Option<Self> {
        let id = new_name(id);
        Self::ALL.iter().copied().find(|action| action.id() == id)
    }
}

/// Tells whether pi has an action with this id, or short name, that does nothing here.
pub(super) fn is_only_in_pi(id: &str) -> bool {
    ONLY_IN_PI.contains(&new_name(id))
}

fn new_name(id: &str) -> &str {
    OLD_NAMES.iter().find(|(old, _)| *old == id).map_or(id, |(_, new)| new)
}

/// Actions of pi that do nothing here. Files of pi bind them; who does is told.
const ONLY_IN_PI: &[&str] = &[
    "tui.editor.jumpForward",
    "tui.editor.jumpBackward",
    "tui.editor.yankPop",
    "tui.input.copy",
    "app.thinking.save",
];

/// Names that keybindings files used before ids had a prefix.
const OLD_NAMES: &[(&str, &str)] = &[
    ("cursorUp", "tui.editor.cursorUp"),
    ("cursorDown", "tui.editor.cursorDown"),
    ("cursorLeft", "tui.editor.cursorLeft"),
    ("cursorRight", "tui.editor.cursorRight"),
    ("cursorWordLeft", "tui.editor.cursorWordLeft"),
    ("cursorWordRight", "tui.editor.cursorWordRight"),
    ("cursorLineStart", "tui.editor.cursorLineStart"),
    ("cursorLineEnd", "tui.editor.cursorLineEnd"),
    ("jumpForward", "tui.editor.jumpForward"),
    ("jumpBackward", "tui.editor.jumpBackward"),
    ("pageUp", "tui.editor.pageUp"),
    ("pageDown", "tui.editor.pageDown"),
    ("deleteCharBackward", "tui.editor.deleteCharBackward"),
    ("deleteCharForward", "tui.editor.deleteCharForward"),
    ("deleteWordBackward", "tui.editor.deleteWordBackward"),
    ("deleteWordForward", "tui.editor.deleteWordForward"),
    ("deleteToLineStart", "tui.editor.deleteToLineStart"),
    ("deleteToLineEnd", "tui.editor.deleteToLineEnd"),
    ("yank", "tui.editor.yank"),
    ("yankPop", "tui.editor.yankPop"),
    ("undo", "tui.editor.undo"),
    ("newLine", "tui.input.newLine"),
    ("submit", "tui.input.submit"),
    ("tab", "tui.input.tab"),
    ("copy", "tui.input.copy"),
    ("selectUp", "tui.select.up"),
    ("selectDown", "tui.select.down"),
    ("selectPageUp", "tui.select.pageUp"),
    ("selectPageDown", "tui.select.pageDown"),
    ("selectConfirm", "tui.select.confirm"),
    ("selectCancel", "tui.select.cancel"),
    ("interrupt", "app.interrupt"),
    ("clear", "app.clear"),
    ("exit", "app.exit"),
    ("suspend", "app.suspend"),
    ("cycleThinkingLevel", "app.thinking.cycle"),
    ("cycleModelForward", "app.model.cycleForward"),
    ("cycleModelBackward", "app.model.cycleBackward"),
    ("selectModel", "app.model.select"),
    ("expandTools", "app.tools.expand"),
    ("toggleThinking", "app.thinking.toggle"),
    ("toggleSessionNamedFilter", "app.session.toggleNamedFilter"),
    ("externalEditor", "app.editor.external"),
    ("followUp", "app.message.followUp"),
    ("dequeue", "app.message.dequeue"),
    ("pasteImage", "app.clipboard.pasteImage"),
    ("newSession", "app.session.new"),
    ("tree", "app.session.tree"),
    ("fork", "app.session.fork"),
    ("resume", "app.session.resume"),
    ("treeFoldOrUp", "app.tree.foldOrUp"),
    ("treeUnfoldOrDown", "app.tree.unfoldOrDown"),
    ("treeEditLabel", "app.tree.editLabel"),
    ("treeToggleLabelTimestamp", "app.tree.toggleLabelTimestamp"),
    ("toggleSessionPath", "app.session.togglePath"),
    ("toggleSessionSort", "app.session.toggleSort"),
    ("renameSession", "app.session.rename"),
    ("deleteSession", "app.session.delete"),
    ("deleteSessionNoninvasive", "app.session.deleteNoninvasive"),
];
