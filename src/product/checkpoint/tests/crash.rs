//! Turns and undos that were cut off.

use super::*;

#[test]
fn a_turn_that_was_cut_off_is_taken_back_by_what_is_there() {
    let lab = Lab::new();
    lab.write("f", "before\n");
    lab.write("t", "before\n");
    let before = lab.tree();
    let checkpoints = lab.checkpoints();
    lab.command(&checkpoints, 1, "make", |lab| lab.write("earlier", ""));
    let middle = lab.tree();
    checkpoints.said(SESSION, 3, Some("cut".into()));
    lab.tool(&checkpoints, "t", "tool\n");
    checkpoints.starting(&command("make"));
    lab.write("f", "command\n");
    let busy = lab.go(Direction::Undo).unwrap_err();
    assert_eq!(busy, "a turn of this session is running in another process");
    drop(checkpoints);
    let depot = lab.depot();
    let target = Target { depot: &depot, session: SESSION, file: None };
    let plan = target.plan(What::Files, Direction::Undo).unwrap();
    assert!(plan.notes[0].contains("cut off") && plan.title.as_deref() == Some("cut"), "{plan:?}");
    target.apply(plan).unwrap();
    assert_eq!(lab.tree(), middle);
    lab.undo();
    assert_eq!(lab.tree(), before);
    // The next turn of the session ends one that was cut off, too.
    let checkpoints = lab.checkpoints();
    checkpoints.said(SESSION, 5, None);
    checkpoints.starting(&command("make"));
    lab.write("f", "cut again\n");
    drop(checkpoints);
    lab.command(&lab.checkpoints(), 7, "make", |lab| lab.write("f", "then\n"));
    lab.undo();
    assert_eq!(lab.read("f").unwrap(), "cut again\n");
    lab.undo();
    assert_eq!(lab.read("f").unwrap(), "before\n");
}

#[test]
fn what_was_changed_after_the_program_was_killed_is_left() {
    let lab = Lab::new();
    for path in ["f", "edited", "tooled", "gone"] {
        lab.write(path, "before\n");
    }
    let checkpoints = lab.checkpoints();
    checkpoints.said(SESSION, 1, None);
    lab.tool(&checkpoints, "tooled", "tool\n");
    checkpoints.starting(&command("make"));
    lab.write("f", "command\n");
    lab.write("made", "command\n");
    lab.remove("gone");
    drop(checkpoints);
    lab.settle();
    lab.write("edited", "mine\n");
    lab.write("tooled", "mine\n");
    lab.write("notes/mine", "mine\n");
    let refused = ["refuse edited", "refuse notes", "refuse notes/mine", "refuse tooled"];
    let mut done = lab.undo();
    done.retain(|line| line.starts_with("refuse"));
    assert_eq!(done, refused);
    assert_eq!(
        ["f", "gone", "made"].map(|path| lab.read(path)),
        [Some("before\n".to_owned()), Some("before\n".into()), None]
    );
    assert_eq!(["edited", "tooled", "notes/mine"].map(|path| lab.read(path).unwrap()), ["mine\n"; 3]);
    lab.redo();
    assert_eq!(
        (lab.read("f").unwrap(), lab.read("notes/mine").unwrap()),
        ("command\n".to_owned(), "mine\n".to_owned())
    );
}

#[test]
fn a_crash_while_files_are_taken_back_is_gone_on_from() {
    let lab = Lab::new();
    lab.write("a", "1\n2\n3\n4\n");
    lab.write("b", "before\n");
    lab.command(&lab.checkpoints(), 1, "make", |lab| {
        lab.write("a", "agent\n2\n3\n4\n");
        lab.write("b", "after\n");
    });
    lab.write("a", "agent\n2\n3\n4\nmine\n");
    let now = lab.tree();
    lab.undo();
    let undone = lab.tree();
    // As if the program had ended before the second file was written and the end noted.
    let journal = lab.folder.path().join("data/checkpoints").join(SESSION).join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let (kept, _) = text.rsplit_once(r#"{"type":"done""#).unwrap();
    fs::write(&journal, kept).unwrap();
    lab.write("b", "after\n");
    assert_eq!(lab.undo(), ["restore b"]);
    assert_eq!(lab.tree(), undone);
    lab.redo();
    assert_eq!(lab.tree(), now);
}
