//! The `write_file` tool: a whole file, new or in place of what was there.
//!
//! It refuses to replace what somebody else changed since this session saw it; where it may write at all, the gate decides.

use std::io::{BufReader, Read as _};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::base::json::Object;
use crate::base::text::numbers::{count, size};
use crate::kernel::tool::{CHANGE_BYTES, Change, Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec, echo};

use super::read::page::{self, Scan};
use super::save::{Problem, Stamp};
use super::seen::{self, Seen, Standing};
use super::target::{Found, Target, blocking_parent};
use super::workspace::{self, Workspace};
use super::{arguments, save};

/// What reaches the model by default: one sentence, and a path that may be long.
pub const LIMITS: Limits = Limits { chars: 1_000, lines: usize::MAX };
/// Bytes of an old file that are read at once.
const CHUNK: usize = 64 * 1024;

/// Writes whole files.
pub struct WriteFile {
    workspace: Arc<Workspace>,
    seen: Arc<Seen>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

impl WriteFile {
    /// A writer of files that knows from `seen` what this session read or wrote.
    pub fn new(workspace: Arc<Workspace>, seen: Arc<Seen>, limits: Limits) -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "content": {"type": "string", "description": "the whole content"},
            },
            "required": ["path", "content"],
        });
        let description = include_str!("../../../assets/tools/write_file.md").trim_ascii_end();
        let spec = ToolSpec { name: "write_file", description, parameters, risk: Risk::Write, limits };
        Self { workspace, seen, spec }
    }

    fn write(&self, arguments: &Arguments, subject: &Subject) -> Result<Output, String> {
        for _ in 0..save::ATTEMPTS {
            if let Some(told) = self.attempt(arguments, subject)? {
                return Ok(told);
            }
        }
        let shown = self.workspace.named(&self.workspace.resolve(&arguments.path));
        Err(format!("{shown} is changed by somebody else all the time, and was not written"))
    }

    /// `None` where somebody else changed the file meanwhile.
    fn attempt(&self, arguments: &Arguments, subject: &Subject) -> Result<Option<Output>, String> {
        let Arguments { path, content } = arguments;
        let target = Target::permitted(&self.workspace, path, subject)?;
        let shown = &target.shown;
        let (before, old) = match target.look()? {
            Found::File(_) => survey(&target, content.len()).map(|(before, old)| (Some(before), Some(old)))?,
            Found::Nothing => (None, None),
        };
        let standing = match &old {
            Some(old) => self.seen.standing(&target.path, old.scan.hash),
            None => Standing::Unknown,
        };
        match standing {
            Standing::Changed | Standing::Glimpsed => {
                return Err(format!(
                    "{shown} has changed since it was last read or written here, and was not replaced; \
                     read it again, then write or edit it"
                ));
            }
            Standing::Current | Standing::Unknown => {}
        }
        if let Some(file) = blocking_parent(&target.path) {
            return Err(format!("cannot make {shown}: {} is not a folder", self.workspace.named(file)));
        }
        let new_hash = seen::hash(content.as_bytes());
        let is_same =
            old.as_ref().is_some_and(|old| old.scan.hash == new_hash && old.scan.bytes == content.len() as u64);
        if !is_same {
            match save::save(&target.path, content.as_bytes(), before) {
                Ok(()) => {}
                Err(Problem::Changed) => return Ok(None),
                Err(Problem::System(error)) => {
                    let kept = if old.is_some() { "; its old content is kept" } else { "" };
                    return Err(format!("could not write {shown}: {}{kept}", save::words(&error)));
                }
            }
        }
        self.seen.record(&target.path, new_hash);
        let new = extent(content.split_inclusive('\n').count() as u64, content.len() as u64);
        let change = match &old {
            _ if is_same => None,
            Some(Old { text: None, scan: _ }) => None,
            Some(Old { text: Some(text), scan: _ }) => Change::of(shown, Some(text), content.as_bytes()),
            None => Change::of(shown, None, content.as_bytes()),
        };
        let told = match (old.map(|old| old.scan), standing) {
            (Some(_), _) if is_same => format!("{shown} already has exactly this content ({new}); nothing was written"),
            (Some(old), Standing::Unknown) => format!(
                "replaced {shown}: {new}; what was there ({}) had not been read in this session",
                extent(old.lines, old.bytes)
            ),
            (Some(old), _) => format!("replaced {shown}: {new}, before {}", extent(old.lines, old.bytes)),
            (None, _) => format!("created {shown}: {new}"),
        };
        Ok(Some(Output { change, ..Output::ok(told) }))
    }
}

impl Tool for WriteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        let arguments: Arguments = arguments::parse(arguments)?;
        if let Some(problem) = mistaken(&self.workspace, &arguments.path) {
            return Err(problem);
        }
        Ok(workspace::writes(&self.workspace.resolve(&arguments.path)))
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        arguments::parse(arguments)
            .and_then(|arguments| self.write(&arguments, context.subject))
            .unwrap_or_else(Output::error)
    }
}

/// Why a path is not what its writer takes it for: a folder, or something that only a shell or a browser opens.
fn mistaken(workspace: &Workspace, path: &str) -> Option<String> {
    let shown = echo(path);
    if path.ends_with('/') {
        return Some(format!("path: {shown} ends like a folder; name a file (its folders are made with it)"));
    }
    let (first, _) = path.split_once('/')?;
    let variable = first.strip_prefix('$').map(|name| name.trim_start_matches('{').trim_end_matches('}'));
    // Names such as `$id` and `$lib` are files' and folders' in earnest.
    let is_variable = variable.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    });
    let is_home = first.len() > 1 && first.starts_with('~');
    let is_address = first.eq_ignore_ascii_case("file:");
    let is_there = || workspace.cwd().join(first).symlink_metadata().is_ok();
    ((is_variable || is_home || is_address) && !is_there())
        .then(|| format!("path: {} is not opened in {shown}; give the absolute path", echo(first)))
}

fn extent(lines: u64, bytes: u64) -> String {
    format!("{}, {}", count(lines, "line"), size(bytes))
}

/// What is replaced.
struct Old {
    scan: Scan,
    /// The whole of it, where it is small enough for a [`Change`].
    text: Option<Vec<u8>>,
}

/// Looks at what `new_bytes` bytes are to replace; of a long file nothing is held.
fn survey(target: &Target, new_bytes: usize) -> Result<(Stamp, Old), String> {
    let scanned = target.open().and_then(|file| {
        let before = file.stamp()?;
        let mut file = BufReader::with_capacity(CHUNK, file);
        let room = CHANGE_BYTES.saturating_sub(new_bytes) as u64;
        let mut start = Vec::new();
        // One more than there is room for: then there is more to come.
        file.by_ref().take(room + 1).read_to_end(&mut start)?;
        let is_whole = start.len() as u64 <= room;
        let scan = page::scan(&mut start.as_slice().chain(file))?;
        Ok((before, Old { scan, text: is_whole.then_some(start) }))
    });
    scanned.map_err(|error| format!("{}: {}", target.shown, save::words(&error)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;
    use crate::product::tool::fixture::Bench;

    fn bench() -> Bench<WriteFile> {
        Bench::new(|workspace, seen| WriteFile::new(workspace, seen, LIMITS))
    }

    impl Bench<WriteFile> {
        fn write(&self, path: &str, content: &str) -> Output {
            self.call(json!({"path": path, "content": content}))
        }
    }

    #[test]
    fn new_old_and_equal_content_sound_different() {
        let bench = bench();
        let path = bench.cwd.join("a/b/f.txt");
        let told = |content| bench.write("a/b/f.txt", content).text.head;
        assert_eq!(told("ünï\n"), "created a/b/f.txt: 1 line, 6 B");
        assert_eq!(told("x\ny"), "replaced a/b/f.txt: 2 lines, 3 B, before 1 line, 6 B");
        let inode = path.metadata().unwrap().ino();
        assert!(bench.write("a/b/f.txt", "x\ny").text.head.contains("already has exactly this content"));
        assert_eq!(path.metadata().unwrap().ino(), inode);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn an_unread_file_is_replaced_and_a_changed_one_is_not() {
        let bench = bench();
        let path = bench.cwd.join("f");
        std::fs::write(&path, "the user's\n").unwrap();
        let told = bench.write("f", "new\n");
        assert!(!told.is_error && told.text.head.contains("(1 line, 11 B) had not been read"), "{told:?}");
        std::fs::write(&path, "theirs\n").unwrap();
        for _ in 0..2 {
            let told = bench.write("f", "newer\n");
            assert!(told.is_error && told.text.head.contains("has changed since"), "{told:?}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs\n");
        }
        bench.seen.record(&path, seen::hash(b"theirs\n"));
        assert!(!bench.write("f", "newer\n").is_error);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(bench.write("f", "again").text.head, "created f: 1 line, 5 B");
    }

    #[test]
    fn people_are_shown_what_it_did() {
        let bench = bench();
        let change = |content: &str| bench.write("f", content).change;
        assert_eq!(change("one\n"), Change::of("f", None, b"one\n"));
        assert_eq!(change("two\n"), Change::of("f", Some(b"one\n"), b"two\n"));
        assert_eq!(change("two\n"), None, "nothing was written");
        bench.file("binary", b"\0");
        assert_eq!(bench.write("binary", "text").change, None, "what was there is no text");
        bench.file("long", "long\n".repeat(CHANGE_BYTES / 5));
        let told = bench.write("long", "short\n");
        assert_eq!(told.change, None);
        assert!(told.text.head.contains("(104,857 lines, 524 KB) had not been read"), "{told:?}");
    }

    #[test]
    fn links_lead_to_what_is_replaced() {
        let bench = bench();
        let target = bench.cwd.join("script.sh");
        std::fs::write(&target, "old").unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("script.sh", bench.cwd.join("link")).unwrap();
        std::os::unix::fs::symlink("later/new", bench.cwd.join("dangling")).unwrap();
        assert!(!bench.write("link", "new").is_error);
        assert!(!bench.write("dangling", "new").is_error);
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(target.metadata().unwrap().mode() & 0o777, 0o755);
        assert_eq!(std::fs::read_to_string(bench.cwd.join("later/new")).unwrap(), "new");
        assert!(bench.cwd.join("link").is_symlink() && bench.cwd.join("dangling").is_symlink());
    }

    #[test]
    fn a_permission_is_for_one_file() {
        let bench = bench();
        std::fs::write(bench.cwd.join("inside"), "old").unwrap();
        std::fs::write(bench.cwd.join("outside"), "theirs").unwrap();
        bench.link("name", "inside");
        let arguments = json!({"path": "name", "content": "new"});
        let arguments = arguments.as_object().unwrap();
        let subject = bench.tool.subject(arguments).unwrap();
        std::fs::remove_file(bench.cwd.join("name")).unwrap();
        bench.link("name", "outside");
        let told = bench.run_as(&bench.tool, arguments, &subject);
        assert!(told.is_error && told.text.head.starts_with("name leads elsewhere"), "{told:?}");
        assert_eq!(std::fs::read_to_string(bench.cwd.join("outside")).unwrap(), "theirs");
    }

    #[test]
    fn what_only_a_shell_opens_is_refused() {
        let bench = bench();
        for path in ["new/", "~root/x", "$HOME/x", "${XDG_DATA_HOME}/x", "file:///x", "/"] {
            let told = bench.write(path, "x");
            assert!(told.is_error && told.text.head.starts_with("path: "), "{path}: {told:?}");
        }
        assert_eq!(std::fs::read_dir(&bench.cwd).unwrap().count(), 0);
        bench.file("~there/", "");
        for path in ["~there/x", "$lib/x", "$HOME", "a/$HOME/x", "~x"] {
            assert!(!bench.write(path, "x").is_error, "{path}");
        }
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let bench = bench();
        std::fs::write(bench.cwd.join("file"), "").unwrap();
        std::fs::create_dir(bench.cwd.join("closed")).unwrap();
        let refusal = |path: &str| {
            let output = bench.write(path, "x");
            assert!(output.is_error, "{path}");
            output.text.head
        };
        assert!(refusal(".").contains("directory"));
        assert!(refusal("/dev/null").contains("device"));
        assert_eq!(refusal("closed/key"), "reading closed/key is closed by sandbox.deny_read");
        assert_eq!(refusal("file/below/it"), "cannot make file/below/it: file is not a folder");
    }
}
