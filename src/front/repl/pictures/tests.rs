//! Pictures from files, in drafts and in messages.

use tempfile::TempDir;

use super::*;

const PICTURE: &[u8] = include_bytes!("../../../../tests/corpus/pictures/palette.png");

fn world() -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    for (name, content) in [
        ("a.png", PICTURE),
        ("my own shot.png", PICTURE),
        ("closed.png", PICTURE),
        ("page.png", b"<html>"),
        ("cut.png", &PICTURE[..100]),
        ("x.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"),
    ] {
        std::fs::write(top.join(name), content).unwrap();
    }
    std::fs::create_dir(top.join("folder.png")).unwrap();
    let workspace = Workspace::new(top, None, &["closed.png".into()]).unwrap();
    (folder, workspace)
}

fn labels(named: &Named) -> Vec<String> {
    let Named::Pictures(pictures) = named else { panic!("{named:?}") };
    pictures.iter().map(|picture| picture.label()).collect()
}

#[test]
fn a_text_that_names_pictures_and_nothing_else_is_pictures() {
    let (_folder, workspace) = world();
    let top = workspace.cwd().display();
    let named = |text: &str| named(text, &workspace);
    let (a, own) = ("[picture: a.png 5×5]", "[picture: my own shot.png 5×5]");
    assert_eq!(labels(&named("a.png")), [a]);
    assert_eq!(labels(&named(&format!("{top}/a.png\n"))), [a]);
    assert_eq!(labels(&named(&format!("file://{top}/my%20own%20shot.png"))), [own]);
    assert_eq!(labels(&named(&format!("{top}/my own shot.png"))), [own]);
    assert_eq!(labels(&named(&format!("'{top}/my own shot.png' {top}/a.png"))), [own, a]);
    for text in ["hello", "page.png", "gone.png", "folder.png", "a.png gone.png", "see a.png", "/dev/null", "/"] {
        assert_eq!(named(text), Named::Nothing, "{text}");
    }
    for (text, why) in [
        ("closed.png", "sandbox.deny_read"),
        ("cut.png", "damaged"),
        ("./x.heic", "a HEIC picture"),
        ("a.png cut.png", "damaged"),
    ] {
        let Named::Unfit(told) = named(text) else { panic!("{text}") };
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn a_message_has_texts_and_pictures_in_their_order() {
    let (_folder, workspace) = world();
    std::fs::write(workspace.cwd().join("notes"), "42").unwrap();
    let picture = || Piece::Picture(Arc::new(taken(PICTURE, "clipboard".to_owned()).unwrap()));
    let recalled = |kept: &str| Piece::Picture(Arc::new(recalled(kept)));
    let file = workspace.cwd().join("a.png").display().to_string();
    let typed = |text: &str| Piece::Typed(text.to_owned());
    let pieces = vec![typed("@notes, why is "), picture(), typed(" not "), recalled(&file), typed("\n")];
    let Said { files, words, problems } = said(&Draft { pieces }, &workspace);
    assert_eq!((files.len(), problems), (1, Vec::new()));
    let words: Vec<_> = words
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Image(image) => image.label(),
        })
        .collect();
    assert_eq!(
        words,
        ["@notes, why is [picture 1: clipboard 5×5]", "image/png 5×5", " not [picture 2: a.png]", "image/png 5×5"]
    );
    let pieces = vec![recalled("/gone/b.png"), recalled("clipboard"), recalled(&file.replace("a.png", "page.png"))];
    let Said { words, problems, .. } = said(&Draft { pieces }, &workspace);
    assert!(words.is_empty());
    assert_eq!(
        problems,
        [
            "The picture b.png is lost: its file is gone.",
            "The picture clipboard is lost: it was in no file, and only its name was kept.",
            "The picture page.png is lost: its file is no picture any more."
        ]
    );
}

#[test]
fn the_path_is_kept_and_not_the_bytes() {
    let (_folder, workspace) = world();
    let file = workspace.cwd().join("a.png");
    let Ok(picture) = read(&file, &workspace) else { panic!() };
    assert_eq!(kept(&picture), file.display().to_string());
    assert_eq!(recalled(&kept(&picture)).label(), "[picture: a.png]");
    let clip = taken(PICTURE, "clipboard".to_owned()).unwrap();
    assert_eq!(recalled(&kept(&clip)).label(), "[picture lost: clipboard]");
}
