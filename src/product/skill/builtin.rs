//! The skills that come with the program, from `skills/` beside its sources.

/// Their texts.
pub(super) const TEXTS: [&str; 3] = [
    include_str!("../../../skills/commit/SKILL.md"),
    include_str!("../../../skills/extend-viola/SKILL.md"),
    include_str!("../../../skills/review-diff/SKILL.md"),
];
