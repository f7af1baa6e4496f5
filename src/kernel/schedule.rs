//! Which calls of one answer may run beside each other. Pure.

use std::path::Path;

use super::tool::Subject;

/// Whether `later` has to wait until `earlier`, a call before it in the same answer, is done.
///
/// A shell call waits for earlier writers; a read or write for earlier writers of its path; a write for earlier shell
/// calls, and for earlier readers of its path. Neighbouring shell calls overlap.
pub fn waits_for(later: &Subject, earlier: &Subject) -> bool {
    match (later, earlier) {
        (Subject::Command(_), Subject::Write(_)) | (Subject::Write(_), Subject::Command(_)) => true,
        (Subject::Read(one), Subject::Write(other))
        | (Subject::Write(one), Subject::Read(other) | Subject::Write(other)) => {
            one.iter().any(|path| other.iter().any(|other| overlap(path, other)))
        }
        (Subject::Command(_), Subject::Command(_) | Subject::Read(_))
        | (Subject::Read(_), Subject::Command(_) | Subject::Read(_))
        | (Subject::Url(_) | Subject::Task(_) | Subject::Other, _)
        | (_, Subject::Url(_) | Subject::Task(_) | Subject::Other) => false,
    }
}

/// Whether one is the other, or a folder above it.
fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_within_an_answer() {
        let read = |path: &str| Subject::Read(vec![path.into()]);
        let write = |path: &str| Subject::Write(vec![path.into()]);
        let command = Subject::Command("make".into());
        for (later, earlier, waits) in [
            (&command, &write("/w/a"), true),
            (&command, &command, false),
            (&command, &read("/w/a"), false),
            (&write("/w/a"), &command, true),
            (&read("/w/a"), &command, false),
            (&read("/w/a"), &write("/w/a"), true),
            (&read("/w"), &write("/w/a"), true),
            (&read("/w/ab"), &write("/w/a"), false),
            (&write("/w/a"), &write("/w/a"), true),
            (&write("/w/a"), &write("/w/b"), false),
            (&write("/w/a"), &read("/w/a"), true),
            (&read("/w/a"), &read("/w/a"), false),
            (&Subject::Other, &write("/w/a"), false),
            (&command, &Subject::Other, false),
        ] {
            assert_eq!(waits_for(later, earlier), waits, "{later:?} after {earlier:?}");
        }
    }
}
