//! What a shell line may do to files, as far as its words tell: nothing, or something to the paths it names.
//!
//! Not a shell: whatever is not plain counts as able to change anything.

use std::ffi::OsStr;

/// Programs that change no file of a workspace, whatever their arguments.
const READERS: [&str; 43] = [
    "[",
    "base64",
    "basename",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "false",
    "fgrep",
    "grep",
    "head",
    "hostname",
    "id",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "seq",
    "sha1sum",
    "sha256sum",
    "sleep",
    "stat",
    "tail",
    "test",
    "tr",
    "true",
    "type",
];
/// More of them, beside those above.
const MORE_READERS: [&str; 7] = ["uname", "uptime", "wc", "which", "whoami", "tac", "strings"];
/// Programs that only read but for some options; an option that begins so makes a writer of them.
const MOSTLY_READERS: [(&str, &[&str]); 4] = [
    ("rg", &["--pre", "--hostname-bin"]),
    ("find", &["-exec", "-ok", "-delete", "-fprint", "-fls"]),
    ("tree", &["-o", "--output"]),
    ("sort", &["-o", "--o", "--compress-program"]),
];
/// Commands of git that only read, but for the options below.
const GIT_READERS: [&str; 14] = [
    "blame",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
    "version",
];
/// Options of git's readers that write, or run something else.
const GIT_WRITERS: [&str; 5] = ["--ou", "-o", "-O", "--ext-diff", "--textconv"];

/// Programs that remove or replace the files and folders they are given.
const REMOVERS: [&str; 8] = ["rm", "rmdir", "mv", "unlink", "shred", "truncate", "rsync", "git"];

/// What a shell line may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Whether it surely changes no file of the workspace.
    pub reads_only: bool,
    /// Words that may be paths or globs.
    pub words: Vec<String>,
    /// Whether folders among them may be removed with all that is in them.
    pub removes: bool,
    /// Whether git is told to remove what it ignores.
    pub cleans_ignored: bool,
}

/// Looks at a shell line.
pub fn reach(line: &str) -> Reach {
    let (commands, is_plain) = split(line);
    let reads_only = is_plain && commands.iter().all(|command| reads_only(command));
    if reads_only {
        return Reach { reads_only, ..Reach::default() };
    }
    let all = || commands.iter().flatten();
    let removes = all().any(|word| REMOVERS.contains(&program(word)));
    let cleans_ignored = commands.iter().any(|command| {
        let mut words = command.iter().skip_while(|word| program(word) != "git").skip(1);
        words.any(|word| word == "clean")
            && words.any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(['x', 'X']))
    });
    let words = all().filter(|word| !word.is_empty() && !word.starts_with('-')).cloned().collect();
    Reach { reads_only, words, removes, cleans_ignored }
}

fn reads_only(command: &[String]) -> bool {
    let Some((program, arguments)) = command.split_first() else { return true };
    let program = program.as_str();
    let has = |options: &[&str]| arguments.iter().any(|word| options.iter().any(|option| word.starts_with(option)));
    if READERS.contains(&program) || MORE_READERS.contains(&program) {
        return true;
    }
    if let Some((_, options)) = MOSTLY_READERS.iter().find(|(name, _)| *name == program) {
        // Short options may stand together: `sort -uo FILE`.
        let hidden =
            |word: &String| program == "sort" && word.starts_with('-') && !word.starts_with("--") && word.contains('o');
        return !has(options) && !arguments.iter().any(hidden);
    }
    program == "git"
        && arguments.first().is_some_and(|command| GIT_READERS.contains(&command.as_str()))
        && !has(&GIT_WRITERS)
}

/// A program's name without its folder.
fn program(word: &str) -> &str {
    std::path::Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or(word)
}

/// The words of each simple command of a line, and whether it is nothing but such commands. Redirections that write count
/// as more, but for those to nowhere and to another stream.
fn split(line: &str) -> (Vec<Vec<String>>, bool) {
    let (mut commands, mut is_plain) = (vec![Vec::new()], true);
    let mut word: Option<String> = None;
    let end = |word: &mut Option<String>, commands: &mut Vec<Vec<String>>| {
        if let (Some(word), Some(command)) = (word.take(), commands.last_mut()) {
            command.push(word);
        }
    };
    let mut rest = line.trim().chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => end(&mut word, &mut commands),
            '\'' => word.get_or_insert_default().extend(rest.by_ref().take_while(|c| *c != '\'')),
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = rest.next().filter(|c| *c != '"') {
                    match c {
                        '\\' => word.extend(rest.next()),
                        '$' | '`' => is_plain = false,
                        c => word.push(c),
                    }
                }
            }
            '\\' => match rest.next() {
                Some('\n') | None => is_plain = false,
                Some(c) => word.get_or_insert_default().push(c),
            },
            '|' | '&' | ';' => {
                let doubled = c != ';' && rest.next_if_eq(&c).is_some();
                // A command in the background may still be at it when the turn has ended.
                is_plain &= c != '&' || doubled;
                end(&mut word, &mut commands);
                commands.push(Vec::new());
            }
            '>' => {
                let is_number = word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit()));
                if is_number {
                    word = None;
                }
                end(&mut word, &mut commands);
                is_plain &= to_nowhere(&mut rest);
            }
            '\n' | '\r' | '<' | '(' | ')' | '{' | '}' | '$' | '`' | '#' | '!' => {
                is_plain = false;
                end(&mut word, &mut commands);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    end(&mut word, &mut commands);
    // `NAME=value program`: what the program does may depend on it.
    is_plain &= commands.iter().all(|command| command.first().is_none_or(|first| !first.contains('=')));
    (commands, is_plain)
}

/// Whether what follows `>` is another stream or nowhere; it is taken then.
fn to_nowhere(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    if rest.next_if_eq(&'&').is_some() {
        return rest.next_if(char::is_ascii_digit).is_some();
    }
    rest.next_if_eq(&'>');
    while rest.next_if_eq(&' ').is_some() {}
    let mut ahead = rest.clone();
    let is_nowhere = "/dev/null".chars().all(|c| ahead.next() == Some(c))
        && ahead.peek().is_none_or(|c| matches!(c, ' ' | ';' | '|' | '&'));
    if is_nowhere {
        *rest = ahead;
    }
    is_nowhere
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_surely_only_reads_is_known() {
        for line in [
            "true",
            "ls -la src",
            "cat 'a b' \"c\"",
            "git status --short",
            "git log --oneline -5 | head -3",
            "rg -n 'fn main' src && wc -l src/main.rs",
            "grep -rn x . 2>/dev/null",
            "cat x 2>&1 | tail -n 3",
            "pwd; ls",
            "find . -name '*.rs' -type f",
            "sort -u a",
            "",
            "cd src && ls",
            "echo 'a > b; rm -rf /'",
            "jq .a x.json",
        ] {
            assert!(reach(line).reads_only, "{line}");
        }
    }

    #[test]
    fn in_doubt_it_may_change_anything() {
        for line in [
            "make",
            "echo a > f",
            "echo a >> f",
            "cat <<EOF",
            "rm f",
            "true & rm f",
            "ls $(rm f)",
            "ls `rm f`",
            "cat x | tee f",
            "find . -delete",
            "find . -exec rm {} +",
            "sort -uo f f",
            "git diff --output=f",
            "git checkout .",
            "git -C x status",
            "X=1 ls",
            "ls\nrm f",
            "sed -i s/a/b/ f",
            "rg --pre ./x y",
            "if true; then rm f; fi",
            "ls \"$(rm f)\"",
            "! rm f",
            "cat x 2>/dev/nullx",
            "cat x >&f",
            "echo a>f",
            "{ rm f; }",
            "./ls",
            "sleep 5 &",
            "git log -o f",
            "(ls)",
            "cat x > /dev/null/..",
        ] {
            assert!(!reach(line).reads_only, "{line}");
        }
    }

    #[test]
    fn words_may_be_paths() {
        let words = |line: &str| reach(line).words.join("|");
        assert_eq!(words("rm -rf 'a b' build/*.log"), "rm|a b|build/*.log");
        assert_eq!(words("echo x>.env"), "echo|x|.env");
        assert_eq!(words("make && rm \"x\"; mv a\\ b c"), "make|rm|x|mv|a b|c");
        assert!(reach("rm -r x").removes && reach("/bin/rm x").removes && !reach("make x").removes);
        for (line, cleans) in
            [("git clean -fdx", true), ("git clean -X -f", true), ("git clean -fd", false), ("make -x", false)]
        {
            assert_eq!(reach(line).cleans_ignored, cleans, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_looked_at(line in "\\PC{0,60}|[ a-z'\"\\\\|&;<>$`(){}#!\n-]{0,60}") {
            let _ = reach(&line);
        }
    }
}
