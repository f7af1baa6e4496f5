//! The released binary is static in deed: it maps no shared object, not even to resolve a name.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::{Host, environment, say};

/// Names the binary; without it there is nothing to look at, since ordinary builds are dynamic.
const BINARY: &str = "VIOLA_STATIC_AGENT";

#[test]
fn no_shared_object_is_opened() {
    let Some(binary) = environment(BINARY) else {
        eprintln!("skipped: {BINARY} names no binary");
        return;
    };
    let host = Host::new();
    let base_url = format!("http://localhost:{}/v1", host.server.port());
    host.config(json!({"providers": {"mock": {"base_url": base_url}}}));
    host.script([say("resolved").stall_after(1)]);
    let running = host.task("hi").start_program(Path::new(&binary));
    running.wait_stdout("resolved");
    let maps = fs::read_to_string(format!("/proc/{}/maps", running.id())).unwrap();
    let shared: Vec<&str> = maps.lines().filter(|line| line.contains(".so")).collect();
    assert!(shared.is_empty(), "{shared:#?}");
}
