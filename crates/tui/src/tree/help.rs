//! The keys of the selector, in the order a person learns them.

use crate::help::Group;
use crate::keys::Action;

/// The keys under the list: as many as fit.
pub(super) const HINTS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "go"),
    (Action::Help, "all keys"),
    (Action::SelectCancel, "back"),
    (Action::TreeBranchHere, "go, no summary"),
    (Action::TreeEditLabel, "label"),
    (Action::TreeFilterNext, "filter"),
    (Action::TreeFold, "fold"),
    (Action::TreePreview, "preview"),
    (Action::TreeFork, "fork"),
    (Action::TreeMerge, "merge"),
];

/// The keys besides Enter while an entry is chosen for something else than going there.
pub(super) const PURPOSE_HINTS: &[(Action, &str)] = &[
    (Action::SelectCancel, "back"),
    (Action::Help, "all keys"),
    (Action::TreeFilterNext, "filter"),
    (Action::TreeFold, "fold"),
    (Action::TreePreview, "preview"),
];

/// The same while a query is typed.
pub(super) const SEARCH_PURPOSE_HINTS: &[(Action, &str)] =
    &[(Action::SelectCancel, "clear the search"), (Action::TreeFilterAll, "search everything")];

/// The keys while a query is typed.
pub(super) const SEARCH_HINTS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "go"),
    (Action::SelectCancel, "clear the search"),
    (Action::TreeBranchHere, "go, no summary"),
    (Action::TreeFilterAll, "search everything"),
];

/// The keys while a label is typed.
pub(super) const LABEL_HINTS: &[(Action, &str)] =
    &[(Action::SelectConfirm, "save"), (Action::SelectCancel, "leave it as it was")];

/// All keys of the selector.
pub const GROUPS: &[Group] = &[
    (
        "Walk",
        &[
            Action::SelectUp,
            Action::SelectDown,
            Action::SelectPageUp,
            Action::SelectPageDown,
            Action::SelectFirst,
            Action::SelectLast,
            Action::TreeFold,
            Action::TreeUnfold,
            Action::TreeSiblingPrevious,
            Action::TreeSiblingNext,
            Action::TreeSource,
        ],
    ),
    ("Go there", &[Action::SelectConfirm, Action::TreeBranchHere, Action::SelectCancel]),
    (
        "Use what is there",
        &[
            Action::TreeEditLabel,
            Action::TreePick,
            Action::TreeExtendUp,
            Action::TreeExtendDown,
            Action::TreeMerge,
            Action::TreeFork,
            Action::TreeExport,
            Action::MessageCopy,
            Action::TreeCopyId,
        ],
    ),
    (
        "Show",
        &[
            Action::TreePreview,
            Action::TreePreviewUp,
            Action::TreePreviewDown,
            Action::TreeLabelTimes,
            Action::TreeFilterNext,
            Action::TreeFilterPrevious,
            Action::TreeFilterDefault,
            Action::TreeFilterNoTools,
            Action::TreeFilterUser,
            Action::TreeFilterLabeled,
            Action::TreeFilterAll,
            Action::TreeFilterTurns,
            Action::TreeFilterBranches,
            Action::TreeFilterErrors,
            Action::TreeFilterFiles,
        ],
    ),
];
