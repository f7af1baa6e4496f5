//! The skills that come with the program, from `skills/` beside its sources.
//!
//! What their heads say stands here once more, so that no start has to read YAML for them; a test holds that both agree.

/// A skill that comes with the program.
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// Programs it needs.
    pub(super) programs: &'static [&'static str],
    /// The whole file.
    pub(super) text: &'static str,
}

/// All of them.
pub(super) const SKILLS: [BuiltIn; 3] = [
    BuiltIn {
        name: "commit",
        description: "Make good git commits. Use when asked to commit.",
        programs: &["git"],
        text: include_str!("../../../skills/commit/SKILL.md"),
    },
    BuiltIn {
        name: "extend-viola",
        description: "Write skills, prompts, chains, agents or plugins for Viola, this agent.",
        programs: &[],
        text: include_str!("../../../skills/extend-viola/SKILL.md"),
    },
    BuiltIn {
        name: "review-diff",
        description: "Review a diff, branch or pull request for faults.",
        programs: &[],
        text: include_str!("../../../skills/review-diff/SKILL.md"),
    },
];
