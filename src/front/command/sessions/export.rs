//! `agent sessions export`: where what is taken out goes.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::front::command::DONE;
use crate::product::error::Error;
use crate::product::export::{self, Existing, Extent, Filter, Format, Transcript};
use crate::product::session::store::{Selector, Store};

/// What is to be taken out, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The session: an id or its beginning, or a path.
    pub id: String,
    /// How it is written; nothing goes by the file's name.
    pub format: Option<Format>,
    /// The file, relative to the working directory; nothing is standard output.
    pub to: Option<PathBuf>,
    /// How much of it.
    pub extent: Extent,
    /// Whether a file that is there is replaced.
    pub existing: Existing,
}

/// Takes a session out.
///
/// # Errors
///
/// When there is no such session, it cannot be read, or what comes of it cannot be written.
pub fn run(
    store: &Store,
    wanted: &Export,
    filter: &Filter<'_>,
    cwd: &Path,
    out: &mut dyn Write,
    talk: &mut dyn Write,
) -> Result<u8, Error> {
    let Export { id, format, to, extent, existing } = wanted;
    let Some(path) = store.find(&Selector::parse(id, cwd), cwd)? else {
        return Err(Error::usage("this directory has no session"));
    };
    let transcript = Transcript::read(&path, *extent)?;
    let to = to.as_deref().filter(|to| *to != Path::new("-"));
    let format = format.or_else(|| Format::of(to?)).unwrap_or(match extent {
        Extent::Path => Format::Markdown,
        Extent::AllBranches => Format::JsonLines,
    });
    match to {
        Some(to) => {
            let written = export::to_file(&transcript, format, filter, &cwd.join(to), *existing)?;
            // The file is there, whether or not anybody hears of it.
            let _ = writeln!(talk, "Wrote {}", written.display());
        }
        None => export::write(&transcript, format, filter, out)?,
    }
    Ok(DONE)
}
