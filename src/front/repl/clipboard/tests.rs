//! The clipboard's programs, played by scripts.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::base::cancel::Cancel;
use crate::base::clock::Clock;
use crate::product::app::Which;
use crate::product::config::{self, Flags};
use crate::product::job::Jobs;
use crate::product::journal::Journal;

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/pictures/palette.png");

/// A world with these programs, each a shell script.
fn world(programs: &[(&str, &str)]) -> (TempDir, Setup) {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    for (name, script) in programs {
        let file = top.join(name);
        fs::write(&file, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let var = |name: &str, value: &Path| (name.into(), value.into());
    let vars = [
        var("PATH", &top),
        var("VIOLA_CONFIG_DIR", &top.join("config")),
        var("VIOLA_DATA_DIR", &top.join("data")),
        ("OPENAI_API_KEY".into(), "key-1234567".into()),
    ];
    let env = Env { vars: vars.into(), cwd: top, home: None };
    let loaded = config::load(&env, &Flags::default()).unwrap();
    let (flags, clock, cancel) = (Flags::default(), Clock::System, Cancel::new());
    let session = Which::Unkept;
    let jobs = Jobs::new(&loaded.paths.data_dir, clock);
    (
        folder,
        Setup {
            loaded,
            flags,
            env,
            clock,
            session,
            pictures: Vec::new(),
            cancel,
            pace: None,
            journal: Journal::default(),
            until: None,
            plan: false,
            jobs,
        },
    )
}

fn clip(programs: &[(&str, &str)]) -> Clip {
    let (_folder, setup) = world(programs);
    read(&setup, Asked::ByKey)
}

fn why(programs: &[(&str, &str)]) -> String {
    let Clip::Nothing(Some(why)) = clip(programs) else { panic!() };
    why
}

#[test]
fn a_picture_comes_before_text() {
    let types = r#"case "$*" in *--list-types*|*TARGETS*) printf 'text/plain\nimage/png\n';;"#;
    let picture = format!("{types} *image/png*) cat '{PICTURE}';; *) printf text;; esac");
    for program in ["wl-paste", "xclip"] {
        let Clip::Picture(picture) = clip(&[(program, &picture)]) else { panic!("{program}") };
        assert_eq!(picture.label(), "[picture: clipboard 5×5]");
    }
}

#[test]
fn text_is_text_and_sees_no_key() {
    let text =
        r#"case "$*" in *types*|*TARGETS*) printf 'text/plain\n';; *) printf 'line\n%s' "$OPENAI_API_KEY";; esac"#;
    assert_eq!(clip(&[("wl-paste", text)]), Clip::Text("line\n".to_owned()));
    assert_eq!(clip(&[("pbpaste", "printf mac")]), Clip::Text("mac".to_owned()));
    // One whose desktop is not there fails.
    assert_eq!(clip(&[("wl-paste", "exit 1"), ("xclip", text)]), Clip::Text("line\n".to_owned()));
}

#[test]
fn what_cannot_be_pasted_is_said_in_a_line_unless_only_the_terminal_asked() {
    assert!(why(&[]).contains("install wl-clipboard"));
    assert!(why(&[("wl-paste", "exit 1")]).contains("nothing that can be pasted"));
    let broken = r#"case "$*" in *types*) echo image/png;; *) printf '\211PNG\r\n\032\n';; esac"#;
    assert!(why(&[("wl-paste", broken)]).contains("damaged"));
    let (_folder, setup) = world(&[]);
    assert_eq!(read(&setup, Asked::ByTerminal), Clip::Nothing(None));
}

#[test]
fn one_that_hangs_is_ended_with_its_children() {
    let begun = Instant::now();
    for script in ["sleep 300 & sleep 300", "printf text; exec sleep 300 >/dev/null"] {
        assert!(why(&[("pbpaste", script)]).contains("within a second"), "{script}");
    }
    assert!(begun.elapsed() < Duration::from_secs(60));
}
