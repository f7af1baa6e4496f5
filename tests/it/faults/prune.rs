//! How much is kept, and getting rid of what nobody needs: nothing of a session ever goes.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::support::{Call, Host, calls, say};

#[test]
fn doctor_tells_sizes_and_prunes_what_is_old() {
    let host = Host::new();
    host.script([calls([Call::new("c1", "execute_bash", json!({"command": "seq 1 20000"}))]), say("done")]);
    host.task("go").run().ok();
    let doctor = host.agent(&["doctor", "--json"]).run().ok().json();
    let storage = &doctor["storage"];
    let session = host.session();
    assert_eq!(storage["sessions"]["bytes"], session.path.metadata().unwrap().len());
    assert_eq!((&storage["output"]["files"], &storage["logs"]["files"]), (&json!(1), &json!(1)));
    let text = host.agent(&["doctor"]).run().ok().stdout;
    assert!(text.contains("storage\n  sessions     ") && text.contains(" in 1 file\n"), "{text}");

    host.agent(&["doctor", "--prune"]).run().is(0, "nothing to remove\n", &[]);
    let output = fs::read_dir(host.data_dir().join("output")).unwrap().next().unwrap().unwrap().path();
    let before = fs::read(&session.path).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the files are the system's, and so is their time")]
    let now = SystemTime::now();
    for path in [&output, &session.path] {
        File::options().append(true).open(path).unwrap().set_modified(now - Duration::from_secs(40 * 86_400)).unwrap();
    }
    let size = output.metadata().unwrap().len();
    let pruned = host.agent(&["doctor", "--prune", "--json"]).run().ok().json();
    assert_eq!((&pruned["bytes"], &pruned["removed"]["old output"]["files"]), (&json!(size), &json!(1)));
    assert!(!output.exists());
    assert_eq!(fs::read(&session.path).unwrap(), before);
}
