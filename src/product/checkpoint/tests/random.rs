//! Random trees, and random deeds of tools, commands and the user.

use super::*;

/// What somebody does to a path.
#[derive(Clone, Debug)]
enum Deed {
    /// Puts a line at the beginning of a text; makes it where there is none.
    First(String),
    /// Puts one at its end.
    Last(String),
    Replace(String),
    Delete,
    Execute(bool),
    Link(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Tool,
    Command,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        "[a-c]{1,3}".prop_map(Deed::First),
        "[a-c]{1,3}".prop_map(Deed::Last),
        "([a-c]\n){0,6}".prop_map(Deed::Replace),
        Just(Deed::Delete),
        any::<bool>().prop_map(Deed::Execute),
        "[x-z]".prop_map(Deed::Link),
    ]
}

fn deeds() -> impl Strategy<Value = Vec<(usize, Deed)>> {
    proptest::collection::vec((0..PATHS.len(), deed()), 0..5)
}

const PATHS: [&str; 6] = ["a", "b", "d/a", "d/b", "d/e/c", "f/g"];

impl Lab {
    fn act(&self, path: &str, deed: &Deed) {
        let full = self.work.join(path);
        let is_link = full.is_symlink();
        let old = if is_link { None } else { self.read(path) };
        match (deed, old) {
            (Deed::First(line), old) if !is_link => self.write(path, &format!("{line}\n{}", old.unwrap_or_default())),
            (Deed::Last(line), old) if !is_link => self.write(path, &format!("{}{line}\n", old.unwrap_or_default())),
            (Deed::Replace(text), _) if !is_link => self.write(path, text),
            (Deed::Execute(on), Some(_)) => {
                let mode = if *on { 0o755 } else { 0o644 };
                fs::set_permissions(full, fs::Permissions::from_mode(mode)).unwrap();
            }
            (Deed::Link(target), None) if !is_link => {
                fs::create_dir_all(full.parent().unwrap()).unwrap();
                symlink(target, full).unwrap();
            }
            (Deed::Delete, old) if is_link || old.is_some() => self.remove(path),
            (_, _) => {}
        }
    }

    fn of(&self, path: &str) -> Option<String> {
        self.tree().remove(Path::new(path))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    /// Turns and the user's own work in between, in any order, then back and forth.
    #[test]
    fn back_and_forth_loses_nothing(
        at_first in deeds(),
        turns in proptest::collection::vec((any::<bool>(), deeds(), deeds()), 1..4),
        back in 1..4usize,
    ) {
        let lab = Lab::new();
        at_first.iter().for_each(|(path, deed)| lab.act(PATHS[*path], deed));
        let mut checkpoints = lab.checkpoints();
        let mut kept = Vec::new();
        for (number, (by_command, deeds, by_user)) in turns.iter().enumerate() {
            let before = lab.tree();
            checkpoints.said(SESSION, number as u64 + 1, None);
            let who = if *by_command { Who::Command } else { Who::Tool };
            if who == Who::Command {
                checkpoints.starting(&command("make"));
            }
            for (path, deed) in deeds {
                let call = call(Risk::Write, Subject::Write(vec![lab.work.join(PATHS[*path])]));
                if who == Who::Tool {
                    checkpoints.starting(&call);
                }
                lab.act(PATHS[*path], deed);
                if who == Who::Tool {
                    checkpoints.finished(&call.call.id);
                }
            }
            if checkpoints.end(None).is_some() {
                kept.push((before, lab.tree()));
            }
            by_user.iter().for_each(|(path, deed)| lab.act(PATHS[*path], deed));
            if number % 2 == 1 {
                checkpoints = lab.checkpoints();
            }
        }
        prop_assert_eq!(checkpoints.take_notices(), Vec::<String>::new());
        let mut seen = Vec::new();
        for (before, after) in kept.iter().rev().take(back) {
            let now = lab.tree();
            let files = lab.go(Direction::Undo).unwrap();
            for path in PATHS {
                let key = Path::new(path);
                let (was, left, is) = (before.get(key), after.get(key), now.get(key));
                let then = lab.of(path);
                if is == left {
                    // Nobody touched it since.
                    prop_assert_eq!(then.as_ref(), was, "{}", path);
                } else if was == left || !files.iter().any(|file| file.path == path && file.kind == ChangeKind::Merge) {
                    // The turn did nothing to it, or it cannot be merged; or it is that way already.
                    prop_assert_eq!(then.as_ref(), is, "{}", path);
                }
            }
            if files.iter().all(|file| matches!(file.kind, ChangeKind::Refused(_))) && !files.is_empty() {
                // It stays the last turn.
                prop_assert_eq!(lab.tree(), now);
                break;
            }
            seen.push(now);
        }
        for now in seen.iter().rev() {
            lab.go(Direction::Redo).unwrap();
            prop_assert_eq!(&lab.tree(), now);
        }
        prop_assert!(lab.go(Direction::Redo).is_err());
    }
}
