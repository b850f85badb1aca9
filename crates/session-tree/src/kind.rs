//! The types of entries, the roles of messages and the reasons why answers end.
//!
//! A base type. Other spellings of a name, by older versions and by oh-my-pi, are mapped here, so that no other module
//! has to distinguish them. A name that is not listed is `Opaque` or `Other`: kept, shown and copied, never interpreted.

use std::fmt;

/// Declares an enum of names. The numbers are stored in sidecars and never change.
macro_rules! names {
    (
        $(#[$meta:meta])* $name:ident, $fallback:ident, $fallback_doc:literal,
        { $($(#[$vmeta:meta])* $variant:ident = $number:literal: $text:literal $(| $alias:literal)*,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            #[doc = $fallback_doc]
            $fallback = 0,
            $($(#[$vmeta])* $variant = $number,)*
        }

        impl $name {
            /// Reads the name as files spell it; an unknown one gives the fallback.
            pub fn from_name(name: &[u8]) -> Self {
                match name {
                    $(x if x == $text.as_bytes() $(|| x == $alias.as_bytes())* => $name::$variant,)*
                    _ => $name::$fallback,
                }
            }

            /// Returns the name as pi spells it; `None` for the fallback.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $name::$fallback => None,
                    $($name::$variant => Some($text),)*
                }
            }

            /// Reads back `self as u8`; an unknown number gives the fallback.
            #[allow(dead_code, reason = "some of these enums are not stored")]
            #[inline]
            pub(crate) fn from_u8(number: u8) -> Self {
                match number {
                    $($number => $name::$variant,)*
                    _ => $name::$fallback,
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
        Message = 1: "message",
        /// A change of the thinking level.
        ThinkingLevelChange = 2: "thinking_level_change",
        /// A change of the model.
        ModelChange = 3: "model_change",
        /// Tokens and cost spent outside an answer.
        Usage = 4: "usage" | "model_usage",
        /// A summary that replaces older entries of its path.
        Compaction = 5: "compaction",
        /// A summary of an abandoned branch.
        BranchSummary = 6: "branch_summary" | "stack_summary",
        /// State of an extension; never in the context.
        Custom = 7: "custom",
        /// A message from an extension; in the context.
        CustomMessage = 8: "custom_message",
        /// A name put on another entry.
        Label = 9: "label",
        /// The name of the session.
        SessionInfo = 10: "session_info" | "title_change",
        /// A replacement of what another entry contributes to the context.
        ContextEdit = 11: "context_edit",
        /// A move of the leaf, as the agent-core harness wrote it.
        LeafMove = 12: "leaf",
        /// The mode of oh-my-pi.
        ModeChange = 13: "mode_change",
        /// Rules that oh-my-pi injected.
        RuleInjection = 14: "ttsr_injection",
        /// The point from which oh-my-pi's `/clear` starts afresh.
        ResetBoundary = 15: "reset_boundary",
    }
}

names! {
    /// The role of a message.
    Role, Other, "No role, or one the engine does not know; not sent to a model.", {
        /// A prompt of the user.
        User = 1: "user",
        /// An answer of the model.
        Assistant = 2: "assistant",
        /// The result of a tool.
        ToolResult = 3: "toolResult",
        /// A command the person ran.
        BashExecution = 4: "bashExecution",
        /// A message of an extension.
        Custom = 5: "custom" | "hookMessage",
        /// Prompt and tools given to the model.
        System = 6: "system",
        /// A branch summary inside a context.
        BranchSummary = 7: "branchSummary",
        /// A compaction summary inside a context.
        CompactionSummary = 8: "compactionSummary",
        /// Files that oh-my-pi put into the conversation.
        FileMention = 10: "fileMention",
    }
}

names! {
    /// The reason why an answer ended.
    StopReason, Other, "A reason that the engine does not know.", {
        /// The model was done.
        Stop = 1: "stop",
        /// The answer was cut off at the output limit.
        Length = 2: "length",
        /// The model called tools.
        ToolUse = 3: "toolUse",
        /// The request failed.
        Error = 4: "error",
        /// The user stopped the answer.
        Aborted = 5: "aborted",
        /// The service finishes the answer later.
        Deferred = 6: "deferred",
    }
}

impl Kind {
    /// Returns true for bookkeeping: labels, names, settings and state, which are no part of the conversation.
    #[inline]
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
            | Kind::RuleInjection => true,
            Kind::Opaque
            | Kind::Message
            | Kind::Compaction
            | Kind::BranchSummary
            | Kind::CustomMessage
            | Kind::ContextEdit
            | Kind::ResetBoundary => false,
        }
    }
}
