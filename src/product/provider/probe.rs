//! Asking servers on this machine which models they have: plain HTTP, with a deadline, on a socket of its own.
//!
//! For addresses of this machine only; everything else goes through `model::http`.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use reqwest::Url;
use serde_json::{Value, json};

/// How long all servers together may take to be found when nobody named one.
pub const PROBE_BUDGET: Duration = Duration::from_millis(200);
/// How long a server that was named may take to list its models: it may be loading one.
pub const LIST_BUDGET: Duration = Duration::from_secs(5);
/// A list of models is smaller, in bytes.
const MAX_ANSWER: u64 = 4 << 20;
/// How many models are asked what they can do, before the first is taken.
const MAX_ASKED: usize = 16;

/// What an address may end with besides the path of its list.
const ENDS: [&str; 2] = ["/chat/completions", "/responses"];

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its provider's name.
    pub provider: String,
    /// The models it lists, at least one.
    pub models: Vec<String>,
}

/// Asks all of them at once, each by its provider's name and address, and returns the first in their order that lists a
/// model within `budget`.
pub fn probe(servers: &[(&str, &str)], budget: Duration) -> Option<Server> {
    let deadline = Instant::now() + budget;
    std::thread::scope(|scope| {
        let asked: Vec<_> = servers
            .iter()
            .map(|&(provider, base_url)| {
                let list = scope.spawn(move || list_until(base_url, None, deadline).unwrap_or_default());
                (provider, list)
            })
            .collect();
        let answered = asked.into_iter().map(|(provider, list)| (provider, list.join().unwrap_or_default()));
        let mut answered = answered.filter(|(_, models)| !models.is_empty());
        answered.next().map(|(provider, models)| Server { provider: provider.to_owned(), models })
    })
}

/// Asks all of these addresses at once, each with the key that its server may want; what each lists within `budget`, or
/// why it does not, in their order.
pub fn list_all(addresses: &[(&str, Option<&str>)], budget: Duration) -> Vec<Result<Vec<String>, String>> {
    let deadline = Instant::now() + budget;
    std::thread::scope(|scope| {
        let ask = |&(address, key): &(&str, Option<&str>)| {
            let (address, key) = (address.to_owned(), key.map(str::to_owned));
            scope.spawn(move || list_until(&address, key.as_deref(), deadline))
        };
        let asked: Vec<_> = addresses.iter().map(ask).collect();
        asked.into_iter().map(|list| list.join().unwrap_or_else(|_| Err("it could not be asked".to_owned()))).collect()
    })
}

/// The models a server lists, asked with `key`.
///
/// # Errors
///
/// Why it could not be asked: not of this machine, not plain HTTP, silent, or with an answer that is no list.
pub fn list(base_url: &str, key: Option<&str>, budget: Duration) -> Result<Vec<String>, String> {
    list_until(base_url, key, Instant::now() + budget)
}

fn list_until(base_url: &str, key: Option<&str>, deadline: Instant) -> Result<Vec<String>, String> {
    let address = Address::parse(base_url)?.with_key(key);
    let answer = address.ask("GET", &format!("{}/models", address.path), "", deadline)?;
    let entries = answer.get("data").and_then(Value::as_array).ok_or("its answer is no list of models")?;
    Ok(entries.iter().filter_map(|entry| entry.get("id")?.as_str().map(str::to_owned)).collect())
}

/// The first model of an Ollama server that can call tools; the first of all if none says so.
pub fn first_with_tools(base_url: &str, key: Option<&str>, models: &[String], budget: Duration) -> Option<String> {
    let deadline = Instant::now() + budget;
    let address = Address::parse(base_url).ok().map(|address| address.with_key(key));
    let able = models.iter().take(MAX_ASKED).find(|model| {
        let body = json!({"model": model}).to_string();
        let answer = address.as_ref().and_then(|address| address.ask("POST", "/api/show", &body, deadline).ok());
        let capabilities = answer.as_ref().and_then(|answer| answer.get("capabilities")).and_then(Value::as_array);
        capabilities.is_some_and(|all| all.iter().any(|one| one == "tools"))
    });
    able.or(models.first()).cloned()
}

/// Whether an address leads to this machine.
pub fn is_here(base_url: &str) -> bool {
    Address::parse(base_url).is_ok()
}

/// An address of this machine.
pub(super) struct Address {
    sockets: Vec<SocketAddr>,
    authority: String,
    /// Without a slash at its end.
    pub(super) path: String,
    /// With its question mark; empty where there is none.
    query: String,
    key: Option<String>,
}

impl Address {
    pub(super) fn parse(base_url: &str) -> Result<Self, String> {
        let url = Url::parse(base_url.trim()).map_err(|error| format!("it is no address: {error}"))?;
        if url.scheme() != "http" {
            return Err("only a plain http:// address of this machine is asked".to_owned());
        }
        let (host, port) = (url.host_str().unwrap_or_default(), url.port().unwrap_or(80));
        let addresses: Vec<IpAddr> = match host.trim_start_matches('[').trim_end_matches(']') {
            // Without a resolver: the name is reserved for this (RFC 6761).
            "localhost" => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            literal => literal.parse::<IpAddr>().ok().filter(IpAddr::is_loopback).into_iter().collect(),
        };
        if addresses.is_empty() {
            return Err("it is not on this machine".to_owned());
        }
        // The address of the wire itself is taken as well.
        let path = url.path().trim_end_matches('/');
        let path = ENDS.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
        Ok(Self {
            sockets: addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect(),
            authority: format!("{host}:{port}"),
            path: path.trim_end_matches('/').to_owned(),
            query: url.query().map(|query| format!("?{query}")).unwrap_or_default(),
            key: None,
        })
    }

    /// With the key that its server wants; one that no header can carry is left out.
    pub(super) fn with_key(self, key: Option<&str>) -> Self {
        Self { key: key.filter(|key| key.bytes().all(|byte| byte.is_ascii_graphic())).map(str::to_owned), ..self }
    }

    /// HTTP/1.0, so that the answer ends with the connection and comes in one piece.
    pub(super) fn ask(&self, method: &str, path: &str, body: &str, deadline: Instant) -> Result<Value, String> {
        let mut stream = self.connect(deadline)?;
        let key = self.key.as_ref().map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
        let head = format!(
            "{method} {path}{} HTTP/1.0\r\nHost: {}\r\nAccept: application/json\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n{key}Connection: close\r\n\r\n",
            self.query,
            self.authority,
            body.len()
        );
        stream.set_write_timeout(Some(left(deadline)?)).map_err(|error| error.to_string())?;
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).map_err(|error| error.to_string())?;
        let answer = read_answer(&mut stream, deadline)?;
        serde_json::from_slice(&answer).map_err(|_| "its answer is no JSON".to_owned())
    }

    fn connect(&self, deadline: Instant) -> Result<TcpStream, String> {
        let mut refused = String::new();
        for socket in &self.sockets {
            match TcpStream::connect_timeout(socket, left(deadline)?) {
                Ok(stream) => return Ok(stream),
                Err(error) => refused = error.to_string(),
            }
        }
        Err(refused)
    }
}

/// The time that is left.
fn left(deadline: Instant) -> Result<Duration, String> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err("it took too long".to_owned()) } else { Ok(left) }
}

/// The body, read until its announced length or the end; each read has only what is left of the time.
fn read_answer(stream: &mut TcpStream, deadline: Instant) -> Result<Vec<u8>, String> {
    let (mut answer, mut piece) = (Vec::new(), [0; 16 << 10]);
    loop {
        if let Some(body) = whole_body(&answer) {
            return body.map(<[u8]>::to_vec);
        }
        stream.set_read_timeout(Some(left(deadline)?)).map_err(|error| error.to_string())?;
        let count = match stream.read(&mut piece) {
            Ok(count) => count,
            // A signal: who waits for us hears it.
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return Err("it took too long".to_owned()),
        };
        if count == 0 {
            let (_, body) = split_head(&answer).ok_or("it closed the connection")?;
            return Ok(body.to_vec());
        }
        answer.extend_from_slice(&piece[..count]);
        if answer.len() as u64 > MAX_ANSWER {
            return Err("its answer is too long".to_owned());
        }
    }
}

fn split_head(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some((&answer[..end], &answer[end + 4..]))
}

/// The body once it is all there; `None` while it is not.
fn whole_body(answer: &[u8]) -> Option<Result<&[u8], String>> {
    let (head, body) = split_head(answer)?;
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let mut lines = head.lines();
    if lines.next().and_then(|status| status.split(' ').nth(1)) != Some("200") {
        return Some(Err("it refused to answer".to_owned()));
    }
    let length = lines.find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok())?;
    body.get(..length).map(Ok)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A server that answers every connection with what `answer` makes of the request's first line and the whole of it.
    pub(in super::super) fn serve(answer: impl Fn(&str, &str) -> String + Send + 'static) -> String {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut bytes = [0; 4096];
                let count = stream.read(&mut bytes).unwrap_or(0);
                let request = String::from_utf8_lossy(&bytes[..count]).into_owned();
                let _ = stream.write_all(answer(request.lines().next().unwrap_or(""), &request).as_bytes());
            }
        });
        format!("http://127.0.0.1:{port}/v1")
    }

    pub(in super::super) fn ok(body: &str) -> String {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn the_first_that_lists_a_model_is_found() {
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let silent = format!("http://localhost:{}/v1", silent.local_addr().unwrap().port());
        let odd = serve(|_, _| ok("<html>"));
        let refusing = serve(|_, _| "HTTP/1.1 404 Not Found\r\n\r\n".to_owned());
        let empty = serve(|_, _| ok(r#"{"data": []}"#));
        let good = serve(|line, _| {
            assert_eq!(line, "GET /v1/models HTTP/1.0");
            // Without a length: it ends with the connection.
            "HTTP/1.1 200 OK\r\n\r\n{\"data\": [{\"id\": \"one\"}, {\"id\": \"two\"}]}".to_owned()
        });
        let servers =
            [("a", silent.as_str()), ("b", &odd), ("c", &refusing), ("d", &empty), ("e", &good), ("f", &good)];
        let started = Instant::now();
        let found = probe(&servers, Duration::from_millis(500)).unwrap();
        assert_eq!(found, Server { provider: "e".into(), models: vec!["one".into(), "two".into()] });
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn nothing_there_is_found_out_at_once() {
        let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let started = Instant::now();
        assert_eq!(probe(&[("a", &format!("http://localhost:{closed}/v1"))], PROBE_BUDGET), None);
        assert!(started.elapsed() < Duration::from_secs(2));
        for bad in ["https://localhost/v1", "http://example.org/v1", "http://192.168.0.1:80", "http://127.0.0.1:x", ""]
        {
            assert!(list(bad, None, PROBE_BUDGET).is_err() && !is_here(bad), "{bad}");
        }
        assert!(is_here("http://[::1]:8080/v1") && is_here("http://127.0.0.2"));
    }

    #[test]
    fn any_address_of_the_server_leads_to_its_list() {
        let server = serve(|line, _| {
            assert!(line == "GET /%C3%BC/v1/models?key=k HTTP/1.0", "{line}");
            ok(r#"{"data": [{"id": "one"}]}"#)
        });
        let root = server.replace("/v1", "").replace("http://", "HTTP://me:pw@");
        for end in ["/ü/v1?key=k", "/ü/v1/?key=k#top", "/ü/v1/chat/completions?key=k", "/%C3%BC/v1/responses/?key=k"]
        {
            assert_eq!(list(&format!("{root}{end}"), None, LIST_BUDGET).unwrap(), ["one"], "{end}");
        }
    }

    #[test]
    fn a_model_with_tools_is_preferred() {
        let address = serve(|line, body| {
            assert_eq!(line, "POST /api/show HTTP/1.0");
            ok(if body.contains("able") {
                r#"{"capabilities": ["completion", "tools"]}"#
            } else {
                r#"{"capabilities": []}"#
            })
        });
        let models = ["embedder".to_owned(), "able".to_owned()];
        assert_eq!(first_with_tools(&address, None, &models, LIST_BUDGET).as_deref(), Some("able"));
        assert_eq!(first_with_tools(&address, None, &models[..1], LIST_BUDGET).as_deref(), Some("embedder"));
    }
}
