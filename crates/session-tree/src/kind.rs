//! What entries and messages are called: the closed lists of types and roles the engine understands.
//!
//! A base type. Everything else in a file is `Opaque` or `Other`: kept, shown, copied, never interpreted.

use std::fmt;

macro_rules! names {
    ($(#[$meta:meta])* $name:ident, $fallback:ident, $fallback_doc:literal, { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            #[doc = $fallback_doc]
            $fallback = 0,
            $($(#[$vmeta])* $variant,)*
        }

        impl $name {
            /// Every value, the fallback first.
            pub const ALL: &'static [$name] = &[$name::$fallback, $($name::$variant,)*];

            /// Reads the name as files spell it; an unknown one gives the fallback.
            pub fn from_name(name: &[u8]) -> Self {
                match name {
                    $(x if x == $text.as_bytes() => $name::$variant,)*
                    _ => $name::$fallback,
                }
            }

            /// Returns the name as files spell it; `None` for the fallback.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $name::$fallback => None,
                    $($name::$variant => Some($text),)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name().unwrap_or("unknown"))
            }
        }
    };
}

names! {
    /// The type of an entry.
    Kind, Opaque, "A type the engine does not know; a full node of the tree that adds nothing to the context.", {
        /// A message of the conversation.
        Message = "message",
        /// A change of the thinking level.
        ThinkingLevelChange = "thinking_level_change",
        /// A change of the model.
        ModelChange = "model_change",
        /// Tokens and cost spent outside an answer.
        Usage = "usage",
        /// A summary that replaces older entries of its path.
        Compaction = "compaction",
        /// What an abandoned branch did.
        BranchSummary = "branch_summary",
        /// State of an extension; never in the context.
        Custom = "custom",
        /// A message from an extension; in the context.
        CustomMessage = "custom_message",
        /// A name put on another entry.
        Label = "label",
        /// The name of the session.
        SessionInfo = "session_info",
        /// A replacement of what another entry contributes to the context.
        ContextEdit = "context_edit",
        /// A move of the leaf, as the agent-core harness wrote it.
        LeafMove = "leaf",
        /// The mode of oh-my-pi.
        ModeChange = "mode_change",
        /// Rules that oh-my-pi injected.
        RuleInjection = "ttsr_injection",
        /// The point from which oh-my-pi's `/clear` starts afresh.
        ResetBoundary = "reset_boundary",
        /// A name of the session, as oh-my-pi spells it.
        TitleChange = "title_change",
        /// Tokens and cost, as oh-my-pi's forks spell it.
        ModelUsage = "model_usage",
        /// A branch summary, as an early design spelled it.
        StackSummary = "stack_summary",
    }
}

names! {
    /// The role of a message.
    Role, Other, "No role, or one the engine does not know; not sent to a model.", {
        /// What the person said.
        User = "user",
        /// What the model answered.
        Assistant = "assistant",
        /// What a tool returned.
        ToolResult = "toolResult",
        /// A command the person ran.
        BashExecution = "bashExecution",
        /// A message of an extension.
        Custom = "custom",
        /// Prompt and tools given to the model.
        System = "system",
        /// A branch summary inside a context.
        BranchSummary = "branchSummary",
        /// A compaction summary inside a context.
        CompactionSummary = "compactionSummary",
        /// A message of an extension, as version 2 spelled it.
        HookMessage = "hookMessage",
        /// Files that oh-my-pi put into the conversation.
        FileMention = "fileMention",
    }
}

names! {
    /// The reason why an answer ended.
    StopReason, Other, "A reason that the engine does not know.", {
        /// The model was done.
        Stop = "stop",
        /// The answer was cut off at the output limit.
        Length = "length",
        /// The model called tools.
        ToolUse = "toolUse",
        /// The request failed.
        Error = "error",
        /// The user stopped the answer.
        Aborted = "aborted",
        /// The service finishes the answer later.
        Deferred = "deferred",
    }
}

impl Role {
    /// Reads back `self as u8`; an unknown number gives the fallback.
    pub(crate) fn from_u8(value: u8) -> Self {
        Self::ALL.get(usize::from(value)).copied().unwrap_or(Role::Other)
    }
}

impl Kind {
    /// Reads back `self as u8`; an unknown number gives the fallback.
    pub(crate) fn from_u8(value: u8) -> Self {
        Self::ALL.get(usize::from(value)).copied().unwrap_or(Kind::Opaque)
    }

    /// Tells whether entries of this type only keep books: no conversation hangs on them.
    pub fn is_bookkeeping(self) -> bool {
        match self {
            Kind::Label
            | Kind::Custom
            | Kind::SessionInfo
            | Kind::ModelChange
            | Kind::ThinkingLevelChange
            | Kind::Usage
            | Kind::LeafMove
            | Kind::ModeChange
            | Kind::RuleInjection
            | Kind::TitleChange
            | Kind::ModelUsage => true,
            Kind::Opaque
            | Kind::Message
            | Kind::Compaction
            | Kind::BranchSummary
            | Kind::StackSummary
            | Kind::CustomMessage
            | Kind::ContextEdit
            | Kind::ResetBoundary => false,
        }
    }
}
