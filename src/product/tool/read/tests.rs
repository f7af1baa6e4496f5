//! `read_file` on real files of every kind.

use super::*;
use crate::kernel::tool::Captured;
use crate::product::tool::fixture::Bench;
use crate::product::tool::seen::Standing;

fn bench() -> Bench<ReadFile> {
    Bench::new(|workspace, seen| ReadFile::new(workspace, seen, LIMITS))
}

impl Bench<ReadFile> {
    fn read(&self, path: &str) -> Output {
        self.call(json!({ "path": path }))
    }

    fn refusal(&self, path: &str) -> String {
        let output = self.read(path);
        assert!(output.is_error, "{output:?}");
        output.text.head
    }
}

#[test]
fn a_whole_file_has_numbered_lines_and_no_footer() {
    let bench = bench();
    let path = bench.file("a.txt", "one\n\ttwo\r\nthree");
    let output = bench.read("./x/../a.txt");
    assert_eq!(output, Output::ok("1\tone\n2\t\ttwo\n3\tthree"));
    assert_eq!(bench.seen.standing(&path, seen::hash(b"one\n\ttwo\r\nthree")), Standing::Current);
    bench.file("empty", "");
    assert_eq!(bench.read("empty"), Output::ok("empty is empty"));
}

#[test]
fn a_long_file_names_itself_as_the_full_output() {
    let bench = bench();
    let path = bench.file("long", "x\n".repeat(2_001));
    let output = bench.read("long");
    assert_eq!((output.full_output, output.footer, output.fingerprint), (Some(path), None, None));
    let content = (1..=50_000).map(|n| format!("row {n}\n")).collect::<String>();
    bench.file("long", &content);
    let output = bench.read("long");
    let Captured { head, gap, tail } = output.text;
    assert!(head.starts_with("1\trow 1\n") && tail.ends_with("\n50000\trow 50000"));
    assert!(head.len() + tail.len() < 2 * LIMITS.chars + 100 && gap.unwrap().line_breaks > 40_000);
    assert_eq!(output.fingerprint, Some(seen::hash(content.as_bytes())));
}

#[test]
fn a_range_says_how_to_go_on() {
    let bench = bench();
    bench.file("f.txt", (1..=100).map(|n| format!("line {n}\n")).collect::<String>());
    let output = bench.call(json!({"path": "f.txt", "offset": 10, "limit": 3}));
    assert_eq!(output.text.head, "10\tline 10\n11\tline 11\n12\tline 12");
    let footer = output.footer.unwrap();
    assert_eq!(footer, r#"[lines 10–12 of 100; go on with {"path":"f.txt","offset":13,"limit":3}]"#);
    let output = bench.call(json!({"path": "f.txt", "offset": 99, "limit": 30}));
    assert_eq!(output.footer.unwrap(), "[lines 99–100 of 100; the end of the file]");
    let output = bench.call(json!({"path": "f.txt", "offset": 0, "limit": 100}));
    assert_eq!(output.footer, None, "all of it was shown");
    let output = bench.call(json!({"path": "f.txt", "offset": 101}));
    assert_eq!(output, Output::error("offset 101 is past the end: f.txt has 100 lines"));
}

#[test]
fn a_wide_range_is_cut_at_a_line() {
    let bench = bench();
    bench.file("f.txt", format!("{}\n", "x".repeat(99)).repeat(5_000));
    let output = bench.call(json!({"path": "f.txt", "offset": 1001}));
    let last: u64 = output.text.head.lines().last().unwrap().split('\t').next().unwrap().parse().unwrap();
    assert!(output.text.head.chars().count() <= LIMITS.chars && last > 1400, "{last}");
    let next = last + 1;
    assert_eq!(
        output.footer.unwrap(),
        format!(r#"[lines 1001–{last} of 5000; go on with {{"path":"f.txt","offset":{next}}}]"#)
    );
}

#[test]
fn a_huge_file_needs_a_range() {
    let bench = bench();
    bench.file("big.log", "0123456789abcde\n".repeat(700_000));
    let refusal = bench.refusal("big.log");
    assert!(refusal.contains("11 MB") && refusal.contains(r#"{"path":"big.log","offset":1,"limit":500}"#), "{refusal}");
    let output = bench.call(json!({"path": "big.log", "offset": 600_000, "limit": 2}));
    assert_eq!(output.text.head, "600000\t0123456789abcde\n600001\t0123456789abcde");
}

#[test]
fn what_is_no_text_is_refused_with_a_reason() {
    let bench = bench();
    bench.file("dir/x", "");
    bench.file("blob", [0, 1, 2]);
    bench.file("scan", b"II*\0\x08");
    bench.file("paper", b"%PDF-1.7");
    let pipe = rustix::fs::mknodat(
        rustix::fs::CWD,
        bench.cwd.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    );
    pipe.unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(bench.cwd.join("socket")).unwrap();
    assert_eq!(bench.refusal("dir"), "dir is a directory; list_files shows what is in it");
    assert_eq!(bench.refusal("pipe"), "pipe is a named pipe, not a regular file");
    assert_eq!(bench.refusal("socket"), "socket is a socket, not a regular file");
    assert_eq!(bench.refusal("/dev/zero"), "/dev/zero is a device, not a regular file");
    assert_eq!(bench.refusal("blob"), "blob is a binary file, 3 B; it is not shown as text");
    assert_eq!(bench.refusal("scan"), "scan: it is a TIFF picture, which is not taken; convert it to PNG or JPEG");
    let paper = "paper: it is a PDF document, which is not taken; extract its text, or convert its pages to PNG";
    assert_eq!(bench.refusal("paper"), paper);
}

#[test]
fn a_picture_is_shown_as_one_whatever_its_name() {
    let bench = bench();
    let pixel = include_bytes!("../../../../tests/corpus/pictures/interlaced.png");
    let path = bench.file("notes.txt", pixel);
    let output = bench.call(json!({"path": "notes.txt", "limit": 5}));
    assert_eq!(output.text.head, "notes.txt: a PNG picture, 8×8 px, 78 B");
    let [image] = output.images.as_slice() else { panic!("{output:?}") };
    assert_eq!((image.media_type.as_str(), &image.data[..]), ("image/png", &pixel[..]));
    assert_eq!(bench.seen.standing(&path, seen::hash(pixel)), Standing::Current);
    bench.file("notes.txt", &pixel[..50]);
    let broken = bench.read("notes.txt");
    assert!(broken.is_error && broken.images.is_empty(), "{broken:?}");
    assert!(broken.text.head.starts_with("notes.txt: it begins as a PNG picture, but is damaged"), "{broken:?}");
    bench.file("drawing.svg", "<svg/>");
    assert_eq!(bench.read("drawing.svg").text.head, "1\t<svg/>");
}

#[test]
#[cfg(target_os = "linux")]
fn files_of_the_kernel_are_read_and_never_waited_for() {
    let bench = bench();
    let output = bench.read("/proc/self/status");
    assert!(!output.is_error && output.text.head.contains("Name:"), "{output:?}");
    // Whoever may not read it is told so; whoever may gets what there is.
    let output = bench.read("/proc/kmsg");
    assert!(!output.is_error || output.text.head.starts_with("/proc/kmsg"), "{output:?}");
}

#[test]
fn closed_files_are_closed() {
    let bench = bench();
    bench.file("closed/key", "PRIVATE");
    std::os::unix::fs::symlink("closed/key", bench.cwd.join("open")).unwrap();
    for path in ["closed/key", "open"] {
        assert_eq!(bench.refusal(path), format!("reading {path} is closed by sandbox.deny_read"));
    }
}

#[test]
fn missing_files_get_a_suggestion() {
    let bench = bench();
    bench.file("src/main.rs", "");
    assert_eq!(bench.refusal("src/man.rs"), "no such file: src/man.rs; did you mean src/main.rs?");
    assert_eq!(bench.refusal("src/main.rs/x"), "no such file: src/main.rs/x; src/main.rs is not a folder");
    assert!(!bench.refusal("no\x1b]0;HOSTILE\x07such").contains('\x1b'));
}

#[test]
fn other_encodings_are_shown_and_named() {
    let bench = bench();
    bench.file("latin", b"Stra\xdfe\n");
    let output = bench.read("latin");
    assert_eq!(output.text.head, "1\tStra\u{fffd}e");
    assert!(output.footer.unwrap().contains("not UTF-8"));
    let mut wide = vec![0xff, 0xfe];
    wide.extend("a\r\nß\r\n".encode_utf16().flat_map(u16::to_le_bytes));
    let path = bench.file("wide", &wide);
    let output = bench.call(json!({"path": "wide", "offset": 2}));
    assert_eq!(output.text.head, "2\tß");
    assert!(output.footer.unwrap().contains("UTF-16"));
    assert_eq!(bench.seen.standing(&path, seen::hash(&wide)), Standing::Current);
    bench.file("fake.png", "<html>");
    assert_eq!(bench.read("fake.png").footer.unwrap(), "[text, in spite of a picture's name]");
}

#[test]
fn two_spellings_are_one_subject() {
    let bench = bench();
    let path = bench.file("a/b", "");
    std::os::unix::fs::symlink("a", bench.cwd.join("link")).unwrap();
    for spelling in ["a/b", "./a/../a/b", "link/b"] {
        let arguments = json!({ "path": spelling });
        assert_eq!(bench.tool.subject(arguments.as_object().unwrap()), Ok(Subject::Read(vec![path.clone()])));
    }
    let bad = |arguments: &serde_json::Value| bench.tool.subject(arguments.as_object().unwrap()).unwrap_err();
    assert!(bad(&json!({})).contains("path"));
    assert!(bad(&json!({"path": "x", "lines": 3})).contains("lines"));
    assert!(bad(&json!({"path": "x", "limit": 0})).contains("limit"));
}
