//! An index that is fresh, stale, damaged, foreign, or somebody else's.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::base::clock::Clock;
use crate::product::session::shelf::Scope;
use crate::product::session::store::Store;

const CWD: &str = "/srv/project";

struct Shelf {
    data: tempfile::TempDir,
}

impl Shelf {
    fn new() -> Self {
        Self { data: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> Store {
        Store::new(self.data.path(), Clock::Fixed(0))
    }

    fn root(&self) -> PathBuf {
        self.data.path().join("sessions")
    }

    fn file(&self, number: u64) -> PathBuf {
        let folder = self.root().join(name::folder(Path::new(CWD)));
        fs::create_dir_all(&folder).unwrap();
        folder.join(format!("20260101-120000-{number:04x}.jsonl"))
    }

    fn begin(&self, number: u64) -> PathBuf {
        let path = self.file(number);
        let header = format!(
            r#"{{"type":"session","version":1,"id":"x","created_at":1,"cwd":"{CWD}","provider":"p","model":"m","parent":null}}"#
        );
        fs::write(&path, format!("{header}\n{}{}", asked(1, &format!("question {number}")), answered(2))).unwrap();
        path
    }

    fn append(path: &Path, text: &str) {
        OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// What a list says, and whether that is what a list without an index says.
    fn list(&self) -> Vec<Info> {
        let infos = self.store().listed(Scope::All, Depth::Whole).infos;
        let alone = tempfile::tempdir().unwrap();
        let apart = alone.path().join("sessions");
        std::os::unix::fs::symlink(self.root().join(name::folder(Path::new(CWD))), &apart).unwrap();
        let files = list::files(&apart).unwrap();
        let mut anew: Vec<_> =
            files.iter().filter_map(|file| list::read(file, Depth::Whole, None, &mut None)).collect();
        anew.sort_by(|one, other| (other.info.updated_at, &other.info.id).cmp(&(one.info.updated_at, &one.info.id)));
        let anew: Vec<_> = anew.into_iter().map(|look| look.info).collect();
        let plain = |info: &Info| Info { path: PathBuf::new(), ..info.clone() };
        assert_eq!(infos.iter().map(plain).collect::<Vec<_>>(), anew.iter().map(plain).collect::<Vec<_>>());
        infos
    }

    fn index(&self) -> String {
        fs::read_to_string(self.root().join(FILE)).unwrap()
    }
}

fn asked(id: u64, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":{id},"parent_id":null,"timestamp":{id},"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#
    ) + "\n"
}

fn answered(id: u64) -> String {
    format!(
        r#"{{"type":"message","id":{id},"parent_id":1,"timestamp":{id},"role":"assistant","provider":"p","model":"m{id}","usage":{{"input_tokens":{id},"output_tokens":1,"cost_usd":0.5}},"content":[]}}"#
    ) + "\n"
}

fn dollars(info: &Info) -> f64 {
    info.spent.as_ref().unwrap().total().dollars
}

#[test]
fn what_is_known_is_not_read_again_and_what_has_grown_is_read_on() {
    let shelf = Shelf::new();
    let path = shelf.begin(1);
    assert_eq!(shelf.list()[0].title.as_deref(), Some("question 1"));
    assert_eq!(fs::metadata(shelf.root().join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
    // Only the index can know this.
    let told = shelf.index().replace("question 1", "from the index");
    let body = told.split_once('\n').unwrap().1;
    let head = serde_json::to_string(&Head {
        kind: Kind::Index,
        version: VERSION,
        hash: XxHash3_64::oneshot(body.as_bytes()),
    });
    fs::write(shelf.root().join(FILE), format!("{}\n{body}", head.unwrap())).unwrap();
    let title = || shelf.store().list_all().infos[0].title.clone().unwrap();
    assert_eq!(title(), "from the index");
    // Read on: the beginning is not looked at any more, what follows is.
    Shelf::append(&path, &(answered(3) + r#"{"type":"name","name":"called"}"# + "\n"));
    let info = shelf.store().list_all().infos.remove(0);
    assert_eq!((info.title.as_deref(), info.name.as_deref()), (Some("from the index"), Some("called")));
    assert_eq!((info.messages, info.model.model.as_str(), dollars(&info)), (3, "m3", 1.0));
    // A line that is not at its end yet is not read on from, and an id of before is counted once.
    Shelf::append(&path, answered(4).trim_end());
    assert_eq!(dollars(&shelf.store().list_all().infos[0]), 1.5);
    Shelf::append(&path, &format!("\n{}", answered(4)));
    assert_eq!((title(), dollars(&shelf.list()[0])), ("question 1".to_owned(), 1.5));
    Shelf::append(&path, &answered(3));
    assert_eq!(dollars(&shelf.list()[0]), 1.5);
}

#[test]
fn a_file_that_was_written_anew_is_read_anew() {
    let shelf = Shelf::new();
    let path = shelf.begin(1);
    shelf.list();
    // As long as before, longer with another beginning, shorter, and gone.
    let text = fs::read_to_string(&path).unwrap();
    let other = path.with_extension("other");
    for text in [text.replace("question 1", "Question 2"), text.replace("m2", "another") + &answered(3), String::new()]
    {
        fs::write(&other, text).unwrap();
        fs::rename(&other, &path).unwrap();
        shelf.list();
    }
    shelf.begin(2);
    fs::remove_file(&path).unwrap();
    assert_eq!(shelf.list().len(), 1);
    assert_eq!(shelf.index().lines().count(), 2, "{}", shelf.index());
}

#[test]
fn a_damaged_or_foreign_index_is_made_anew_in_silence() {
    let shelf = Shelf::new();
    (1..=5).for_each(|number| drop(shelf.begin(number)));
    let expected = shelf.list();
    let good = shelf.index();
    let file = shelf.root().join(FILE);
    let flipped = good.replacen("question 3", "question 9", 1);
    let (head, body) = good.split_once('\n').unwrap();
    let later = head.replace("\"version\":1", "\"version\":2");
    let damaged = [
        String::new(),
        "\0".repeat(100),
        "[]\n".to_owned(),
        "\n\n\n".to_owned(),
        body.to_owned(),
        flipped,
        good[..good.len() / 2].to_owned(),
        format!("{later}\n{body}"),
        format!("{good}{good}"),
    ];
    for text in damaged {
        fs::write(&file, &text).unwrap();
        assert_eq!(shelf.list(), expected, "{text:.80}");
        assert_eq!(shelf.index().len(), good.len(), "{text:.80}");
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(shelf.list(), expected, "a folder in its place");
    fs::remove_dir(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert_eq!(shelf.list(), expected, "a pipe in its place");
    assert_eq!(shelf.index().len(), good.len());
}

#[test]
fn where_nothing_can_be_written_a_list_is_the_same() {
    let shelf = Shelf::new();
    assert!(shelf.store().list_all().infos.is_empty() && !shelf.root().exists(), "nothing is made for nothing");
    shelf.begin(1);
    let held = locked(&shelf.root()).unwrap();
    shelf.list();
    assert!(!shelf.root().join(FILE).exists(), "somebody else is about to");
    drop(held);
    fs::create_dir(shelf.root().join(FRESH)).unwrap();
    shelf.list();
    assert!(!shelf.root().join(FILE).exists());
}

#[test]
fn a_list_of_one_directory_keeps_what_is_known_of_others() {
    let shelf = Shelf::new();
    shelf.begin(1);
    shelf.list();
    let store = shelf.store();
    assert!(store.list(Path::new("/elsewhere")).infos.is_empty());
    assert_eq!(store.list(Path::new(CWD)).infos.len(), 1);
    assert_eq!(shelf.index().lines().count(), 2);
}

#[test]
fn very_large_files_are_read_whole_only_where_their_costs_are_wanted() {
    let shelf = Shelf::new();
    let path = shelf.begin(1);
    let mut text = String::from(r#"{"type":"name","name":"early"}"#) + "\n";
    let filler = "x".repeat(100_000);
    for id in 3..60 {
        write!(text, "{}{}", asked(id, &filler), if id == 30 { answered(99) } else { String::new() }).unwrap();
    }
    Shelf::append(&path, &text);
    let quick = shelf.store().list_all().infos.remove(0);
    assert_eq!(
        (quick.spent.as_ref(), quick.name.as_deref(), quick.title.as_deref()),
        (None, Some("early"), Some("question 1"))
    );
    let whole = shelf.list().remove(0);
    assert_eq!((dollars(&whole), whole.messages), (1.0, 60));
    // What was seen whole stays known.
    assert_eq!(shelf.store().list_all().infos.remove(0), whole);
    Shelf::append(&path, &answered(100));
    assert_eq!(dollars(&shelf.store().list_all().infos[0]), 1.5);
}

#[test]
fn many_lists_at_once_say_the_same() {
    let shelf = Shelf::new();
    (1..=40).for_each(|number| drop(shelf.begin(number)));
    std::thread::scope(|scope| {
        let lists: Vec<_> =
            (0..8).map(|_| scope.spawn(|| shelf.store().listed(Scope::All, Depth::Whole).infos)).collect();
        let lists: Vec<_> = lists.into_iter().map(|list| list.join().unwrap()).collect();
        assert!(lists.iter().all(|infos| infos.len() == 40 && *infos == lists[0]));
    });
    assert_eq!(shelf.list().len(), 40);
    assert_eq!(shelf.index().lines().count(), 41);
}
