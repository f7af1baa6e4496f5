//! The index on real folders.

use std::sync::mpsc::{RecvTimeoutError, channel};

use super::*;

/// Longer than any machine needs.
const DEADLINE: Duration = Duration::from_secs(20);

struct Asker {
    index: FileIndex,
    answers: Receiver<Found>,
    generation: u64,
    folder: tempfile::TempDir,
}

impl Asker {
    /// An index of a project in a home, with these files; names with a slash at the end are folders.
    fn new(files: &[&str]) -> Self {
        Self::at("project", &[], files)
    }

    fn at(cwd: &str, deny_read: &[String], files: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for file in files {
            let path = home.join("project").join(file);
            std::fs::create_dir_all(if file.ends_with('/') { &path } else { path.parent().unwrap() }).unwrap();
            if !file.ends_with('/') {
                std::fs::write(path, "").unwrap();
            }
        }
        let workspace = Arc::new(Workspace::new(home.join(cwd), Some(home.clone()), deny_read).unwrap());
        let (sender, answers) = channel();
        let index = FileIndex::new(workspace, Some(home), move |found| drop(sender.send(found)));
        Self { index, answers, generation: 0, folder }
    }

    /// The paths that are found in the end.
    fn ask(&mut self, query: &str) -> Vec<String> {
        self.found(query).rows.into_iter().map(|row| row.candidate.text).collect()
    }

    fn found(&mut self, query: &str) -> Found {
        self.generation += 1;
        self.index.ask(self.generation, query);
        loop {
            let found = self.answers.recv_timeout(DEADLINE).unwrap();
            if found.generation == self.generation && found.extent != Extent::Growing {
                return found;
            }
        }
    }

    fn link(&self, name: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.folder.path().join("project").join(name)).unwrap();
    }
}

#[test]
fn files_are_found_by_the_rules_of_the_tools() {
    let mut asker =
        Asker::new(&[".git/config", ".hidden/x", "src/main.rs", "src/a b.rs", "target/debug/x.rs", "z\u{1b}\n"]);
    std::fs::write(asker.folder.path().join("project/.gitignore"), "target\n").unwrap();
    asker.link("away", "/etc");
    asker.link("loop", ".");
    assert_eq!(asker.ask(""), ["away", "loop", "src/", "z\u{1b}\n", "src/a b.rs", "src/main.rs"]);
    assert_eq!(asker.ask("mai"), ["src/main.rs"]);
    assert_eq!(asker.ask("a b"), ["src/a b.rs"]);
    let found = asker.found("src/");
    assert_eq!(found.total, 2, "the folder itself is there already");
    assert_eq!(asker.ask("main.rs/"), [""; 0]);
}

#[test]
fn what_is_written_out_is_found_by_listing() {
    let mut asker =
        Asker::new(&[".git/config", ".hidden/x", "src/main.rs", "target/debug/x.rs", "../beside/y", "../.dot"]);
    std::fs::write(asker.folder.path().join("project/.gitignore"), "target\n").unwrap();
    asker.link("way", "target");
    assert_eq!(asker.ask(".h"), [".hidden/"]);
    assert_eq!(asker.ask("target/"), ["target/debug/"]);
    assert_eq!(asker.ask("target/debug/"), ["target/debug/x.rs"]);
    assert_eq!(asker.ask("way/"), ["way/debug/"], "a link that is written out is followed");
    assert_eq!(asker.ask("../"), ["../beside/", "../project/"]);
    assert_eq!(asker.ask("../be"), ["../beside/"]);
    assert_eq!(asker.ask("~"), ["~/beside/", "~/project/"]);
    assert_eq!(asker.ask("~/."), ["~/.dot", "~/beside/", "~/project/"][..1]);
    assert_eq!(asker.ask("./s"), ["./src/"]);
    let absolute = asker.folder.path().canonicalize().unwrap().join("beside/");
    assert_eq!(asker.ask(absolute.to_str().unwrap()), [absolute.join("y").to_str().unwrap()]);
    assert_eq!(asker.ask("/nowhere/at/all"), [""; 0]);
}

#[test]
fn the_home_folder_is_never_walked() {
    for cwd in ["", ".."] {
        let mut asker = Asker::at(cwd, &[], &["deep/down/zqxwvkj", "../top.txt"]);
        let below = asker.folder.path().file_name().unwrap().to_str().unwrap().to_owned();
        let prefix = if cwd.is_empty() { String::new() } else { format!("{below}/") };
        // No name beside it, in a folder for temporary files, has these letters.
        assert_eq!(asker.ask("zqxwvkj"), [""; 0]);
        assert_eq!(asker.ask(&format!("{prefix}to")), [format!("{prefix}top.txt")]);
        assert_eq!(asker.ask(&format!("{prefix}project/de")), [format!("{prefix}project/deep/")]);
        assert_eq!(asker.ask(&format!("{prefix}project/deep/down/")), [format!("{prefix}project/deep/down/zqxwvkj")]);
    }
    assert!(is_wide(Path::new("/"), None) && is_wide(Path::new(""), None));
    assert!(!is_wide(Path::new("/nowhere"), Some(Path::new("/home/me"))));
}

#[test]
fn what_is_closed_is_not_offered() {
    let mut asker =
        Asker::at("project", &["secret".to_owned(), "**/*.pem".to_owned()], &["secret/key", "a.pem", "sec"]);
    asker.link("sly", "secret");
    assert_eq!(asker.ask("se"), ["sec"]);
    assert_eq!(asker.ask("secret/"), [""; 0]);
    assert_eq!(asker.ask("./"), ["./sec"]);
}

#[test]
fn what_was_used_comes_first() {
    let mut asker = Asker::new(&["a/x.rs", "b/x.rs", "c/x.rs"]);
    asker.index.used("b/x.rs");
    asker.index.used("c/x.rs");
    assert_eq!(asker.ask("x.rs"), ["c/x.rs", "b/x.rs", "a/x.rs"]);
}

#[test]
fn nothing_is_looked_at_before_it_is_asked_and_nothing_said_after_it_is_dropped() {
    let mut asker = Asker::new(&["a"]);
    asker.index.rest();
    assert!(asker.index.sender.is_none(), "no thread yet");
    assert_eq!(asker.ask("a"), ["a"]);
    asker.index.rest();
    let Asker { index, answers, .. } = asker;
    drop(index);
    assert_eq!(answers.recv_timeout(DEADLINE), Err(RecvTimeoutError::Disconnected), "the threads end");
}

#[test]
fn only_the_last_question_needs_an_answer() {
    let files: Vec<_> = (0..600).map(|number| format!("f{number}/x")).collect();
    let mut asker = Asker::new(&files.iter().map(String::as_str).collect::<Vec<_>>());
    for generation in 1..=50 {
        asker.index.ask(generation, &"f".repeat(usize::try_from(generation % 3).unwrap()));
    }
    asker.generation = 50;
    let found = asker.found("f599x");
    assert_eq!(found.rows[0].candidate.text, "f599/x");
    let all = asker.found("");
    assert_eq!((all.rows.len(), all.total, all.extent), (MOST_ROWS, 1200, Extent::All));
}

#[test]
fn a_second_walk_finds_what_is_new() {
    let mut asker = Asker::new(&["old"]);
    assert_eq!(asker.ask(""), ["old"]);
    std::fs::write(asker.folder.path().join("project/new"), "").unwrap();
    assert_eq!(asker.ask("new"), [""; 0], "within one word nothing is walked again");
    asker.index.rest();
    let deadline = Instant::now() + DEADLINE;
    while asker.ask("new").is_empty() {
        assert!(Instant::now() < deadline);
        asker.index.rest();
        std::thread::sleep(Duration::from_millis(10));
    }
}
