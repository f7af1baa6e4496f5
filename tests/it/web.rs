//! `fetch_url` through the whole program: what is fetched, what is closed, and who is asked.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::support::{Host, call, say};

/// A server that answers everything with this, and its port.
fn server(head: &str, body: &str) -> u16 {
    let answer = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 8192]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

fn open() -> Host {
    let host = Host::new();
    host.config(json!({"fetch": {"allow_private": ["localhost", "127.0.0.1"]}}));
    host
}

#[test]
fn a_page_reaches_the_model_as_markdown() {
    let host = open();
    let body = "<title>It</title><script>x()</script><h1>Hello</h1><p>a <a href='/b'>link</a></p>";
    for name in ["127.0.0.1", "localhost"] {
        let port = server("200 OK\r\nContent-Type: text/html", body);
        let told = host.tool("fetch_url", json!({"url": format!("http://{name}:{port}/a#part")}));
        assert!(told.starts_with(&format!("http://{name}:{port}/a (status 200, text/html)\n")), "{told}");
        assert!(
            told.contains(&format!("# Hello\n\na [link](http://{name}:{port}/b)")) && !told.contains("x()"),
            "{told}"
        );
        assert!(told.ends_with("</web_content>"), "{told}");
    }
}

#[test]
fn this_machine_is_closed_unless_it_is_opened() {
    let port = server("200 OK\r\nContent-Type: text/plain", "secret");
    let closed = Host::new();
    for name in ["127.0.0.1", "localhost"] {
        let told = closed.tool("fetch_url", json!({"url": format!("http://{name}:{port}/")}));
        assert!(told.contains("fetch.allow_private") && !told.contains("secret"), "{told}");
    }
    let host = open();
    let away = server(&format!("302 Found\r\nLocation: http://127.0.0.2:{port}/"), "");
    let told = host.tool("fetch_url", json!({"url": format!("http://127.0.0.1:{away}/")}));
    assert!(told.contains(&format!("http://127.0.0.2:{port}/")) && !told.contains("secret"), "{told}");
}

#[test]
fn a_rule_opens_a_server_and_nothing_else_does() {
    let port = server("200 OK\r\nContent-Type: text/plain", "hello");
    let url = format!("http://127.0.0.1:{port}/docs/x");
    let host = open();
    host.script([call("fetch_url", json!({"url": url})), say("no")]);
    host.print("go").run().exits(3);
    assert!(!host.request(1).told().contains("hello"));
    for (allow, is_open) in [("/docs/*", true), ("/other/*", false)] {
        let host = Host::new();
        let rule = format!("fetch_url(http://127.0.0.1:{port}{allow})");
        host.config(json!({"fetch": {"allow_private": ["127.0.0.1"]}, "permissions": {"allow": [rule]}}));
        host.script([call("fetch_url", json!({"url": url})), say("ok")]);
        host.print("go").run().exits(if is_open { 0 } else { 3 });
        assert_eq!(host.request(1).told().contains("hello"), is_open);
    }
}

#[test]
fn a_project_opens_nothing() {
    let port = server("200 OK\r\nContent-Type: text/plain", "secret");
    let host = Host::new();
    host.file(".viola.json", r#"{"fetch": {"allow_private": ["127.0.0.1"]}}"#);
    let told = host.tool("fetch_url", json!({"url": format!("http://127.0.0.1:{port}/")}));
    assert!(told.contains("fetch.allow_private") && !told.contains("secret"), "{told}");
    let broken = Host::new();
    broken.config(json!({"fetch": {"allow_private": ["http://x/"]}}));
    let run = broken.print("go").run().exits(2);
    assert!(run.stderr.contains("fetch.allow_private") && run.stderr.contains("expected a host"), "{}", run.stderr);
}
