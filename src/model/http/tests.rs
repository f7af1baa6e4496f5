//! Attempts against a small server that speaks just enough HTTP and misbehaves on purpose.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::model::message::{Image, Message, Part, ToolResult};
use crate::model::provider::tests::{answer, info, request};
use crate::model::reply::StopReason;

mod network;

/// Longer than any test may take.
const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(150);

enum Act {
    Send(Vec<u8>),
    /// More than the client may want to take.
    Flood(Vec<u8>),
    /// Comments, one every few milliseconds, for so long or until the client goes away.
    Comments(Duration),
    /// Nothing until the client goes away.
    Hang,
    Close,
    Reset,
}

struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Answers one request after the other with one list of acts each.
    async fn start(script: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (requests, connections) = (Arc::default(), Arc::default());
        let server = Self { url, requests: Arc::clone(&requests), connections: Arc::clone(&connections) };
        tokio::spawn(async move {
            let mut script = script.into_iter();
            while script.len() > 0 {
                let (stream, _) = listener.accept().await.unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                converse(stream, &mut script, &requests).await;
            }
        });
        server
    }

    fn model(&self, options: &HttpOptions) -> Arc<dyn Model> {
        connect(endpoint(Api::OpenaiCompletions, &self.url), options).unwrap()
    }

    fn request(&self, number: usize) -> String {
        self.requests.lock().unwrap()[number].clone()
    }
}

async fn converse(mut stream: TcpStream, script: &mut std::vec::IntoIter<Vec<Act>>, requests: &Mutex<Vec<String>>) {
    stream.set_nodelay(true).unwrap();
    while script.len() > 0 {
        let Some(request) = read_request(&mut stream).await else { return };
        requests.lock().unwrap().push(request);
        for act in script.next().unwrap() {
            match act {
                Act::Send(bytes) => stream.write_all(&bytes).await.unwrap(),
                Act::Flood(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                Act::Comments(time) => {
                    let begun = Instant::now();
                    while begun.elapsed() < time && stream.write_all(b": working\n\n").await.is_ok() {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }
                Act::Hang => {
                    let _ = stream.read(&mut [0]).await;
                    return;
                }
                Act::Close => return,
                Act::Reset => {
                    stream.set_zero_linger().unwrap();
                    return;
                }
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            let length = length.parse::<usize>().unwrap();
            if body.len() >= length {
                return Some(text);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn head(status: u16, more: &str) -> Act {
    Act::Send(format!("HTTP/1.1 {status} X\r\n{more}\r\n").into_bytes())
}

fn streaming() -> Act {
    head(200, "content-type: text/event-stream\r\nconnection: close\r\n")
}

fn whole(status: u16, more: &str, body: &str) -> Vec<Act> {
    vec![Act::Send(format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{more}\r\n{body}", body.len()).into_bytes())]
}

fn text(said: &str) -> Act {
    event(&json!({"choices": [{"index": 0, "delta": {"content": said}}]}))
}

fn event(data: &Value) -> Act {
    Act::Send(format!("data: {data}\n\n").into_bytes())
}

fn finish() -> Act {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
}

fn done() -> Act {
    Act::Send(b"data: [DONE]\n\n".to_vec())
}

fn endpoint(api: Api, url: &str) -> Endpoint {
    Endpoint {
        info: info(),
        api,
        base_url: url.to_owned(),
        key: Some("secret-key-123".to_owned()),
        headers: vec![
            ("X-Team".to_owned(), "violins".to_owned()),
            ("X-Gateway-Token".to_owned(), "gateway-s3cret".to_owned()),
        ],
        compat: Compat::default(),
    }
}

fn patient() -> HttpOptions {
    HttpOptions { connect: LONG, first_byte: LONG, idle: LONG, ..HttpOptions::default() }
}

/// Asks once; what came, and the deltas on the way.
async fn ask(model: &dyn Model) -> (Result<Reply, ModelError>, String) {
    let mut said = String::new();
    let mut deltas = |delta: Delta<'_>| match delta {
        Delta::Text(more) => said.push_str(more),
        Delta::Reasoning(_) => {}
    };
    let (asked, cancel) = (request(vec![Message::user("q")]), Cancel::new());
    let outcome = timeout(LONG, model.reply(&asked, &mut deltas, &cancel)).await.unwrap();
    (outcome, said)
}

async fn fails(script: Vec<Act>, options: &HttpOptions) -> ModelError {
    let server = Server::start(vec![script]).await;
    let error = ask(&*server.model(options)).await.0.unwrap_err();
    assert!(!error.message.contains('\n') && !error.message.contains("secret-key"), "{error}");
    error
}

#[tokio::test]
async fn an_answer_is_streamed_and_the_connection_kept() {
    let chunked = |body: &str| {
        let framed = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        let begin = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        Act::Send(format!("{begin}{framed}").into_bytes())
    };
    let body = format!(
        "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [{"delta": {"content": "Hi"}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
    );
    let server = Server::start(vec![vec![chunked(&body)], vec![chunked(&body)]]).await;
    let model = server.model(&patient());
    for _ in 0..2 {
        let (reply, said) = ask(&*model).await;
        let reply = reply.unwrap();
        assert_eq!((reply.content, reply.stop, said.as_str()), (answer("Hi"), StopReason::Stop, "Hi"));
        assert_eq!((reply.usage.input, reply.usage.output), (5, 2));
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    let sent = server.request(0);
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    for line in ["authorization: Bearer secret-key-123", "x-team: violins", "content-type: application/json"] {
        assert!(sent.contains(&format!("{line}\r\n")), "{sent}");
    }
    assert!(sent.contains(concat!("user-agent: viola/", env!("CARGO_PKG_VERSION"))), "{sent}");
}

#[tokio::test]
async fn anthropic_gets_its_own_headers() {
    let body =
        json!({"type": "message", "id": "m", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"});
    let server = Server::start(vec![whole(200, "", &body.to_string())]).await;
    let mut given = endpoint(Api::AnthropicMessages, &format!("{}/", server.url));
    given.headers.push(("Anthropic-Version".to_owned(), "2029-01-01".to_owned()));
    let model = connect(given, &patient()).unwrap();
    assert_eq!(ask(&*model).await.0.unwrap().content, answer("Hi"));
    let sent = server.request(0);
    assert!(sent.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{sent}");
    assert!(
        sent.contains("x-api-key: secret-key-123\r\n") && sent.contains("anthropic-version: 2029-01-01\r\n"),
        "{sent}"
    );
    assert!(!sent.contains("2023-06-01"), "{sent}");
}

#[tokio::test]
async fn deltas_go_out_as_they_come() {
    // The server goes on only when the client has: it hangs, and is left by the switch that the delta throws.
    let server = Server::start(vec![vec![streaming(), text("Once "), Act::Hang]]).await;
    let (model, asked, cancel) = (server.model(&patient()), request(vec![Message::user("q")]), Cancel::new());
    let thrower = cancel.clone();
    let mut deltas = |_: Delta<'_>| thrower.cancel();
    let outcome = timeout(LONG, model.reply(&asked, &mut deltas, &cancel)).await.unwrap();
    assert_eq!(outcome.unwrap_err().kind, ErrorKind::Cancelled);
}

#[tokio::test]
async fn cancelling_ends_it_at_once() {
    for script in [vec![Act::Hang], vec![streaming(), Act::Hang], vec![streaming(), Act::Comments(LONG)]] {
        let server = Server::start(vec![script]).await;
        let (model, asked, cancel) = (server.model(&patient()), request(vec![Message::user("q")]), Cancel::new());
        let thrower = cancel.clone();
        let requests = Arc::clone(&server.requests);
        let thrown = tokio::spawn(async move {
            while requests.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
            thrower.cancel();
            Instant::now()
        });
        let mut deltas = |_: Delta<'_>| {};
        let error = model.reply(&asked, &mut deltas, &cancel).await.unwrap_err();
        assert_eq!((error.kind, error.retryable), (ErrorKind::Cancelled, false));
        assert!(thrown.await.unwrap().elapsed() < Duration::from_millis(200));
    }
    let server = Server::start(vec![vec![Act::Hang]]).await;
    let (model, asked, cancel) = (server.model(&patient()), request(vec![]), Cancel::new());
    cancel.cancel();
    assert_eq!(model.reply(&asked, &mut |_| {}, &cancel).await.unwrap_err().kind, ErrorKind::Cancelled);
    assert_eq!(server.connections.load(Ordering::SeqCst), 0, "nothing was sent");
}

#[tokio::test]
async fn silence_is_not_waited_for_without_end() {
    let first = HttpOptions { first_byte: SHORT, ..patient() };
    let idle = HttpOptions { idle: SHORT, ..patient() };
    let role = || event(&json!({"choices": [{"delta": {"role": "assistant", "content": ""}}]}));
    for (script, options, word) in [
        (vec![Act::Hang], &first, "no answer"),
        (vec![streaming(), Act::Comments(LONG)], &first, "no answer"),
        (vec![streaming(), role(), Act::Comments(LONG)], &first, "no answer"),
        (vec![streaming(), Act::Hang], &idle, "nothing came"),
        (vec![streaming(), role(), Act::Hang], &idle, "nothing came"),
        (vec![streaming(), text("Hi"), Act::Hang], &idle, "nothing came"),
    ] {
        let error = fails(script, options).await;
        assert_eq!((error.kind, error.retryable), (ErrorKind::Timeout, true), "{error}");
        assert!(error.message.contains(word) && error.message.contains("127.0.0.1:"), "{error}");
    }
}

#[tokio::test]
async fn signs_of_life_are_waited_for() {
    let script = vec![streaming(), Act::Comments(SHORT * 3), text("slow"), Act::Comments(SHORT * 3), finish(), done()];
    let server = Server::start(vec![script]).await;
    let options = HttpOptions { idle: SHORT, ..patient() };
    assert_eq!(ask(&*server.model(&options)).await.0.unwrap().content, answer("slow"));
}

#[tokio::test]
async fn a_broken_stream_is_no_answer() {
    for script in [
        vec![Act::Close],
        vec![Act::Reset],
        vec![streaming(), Act::Close],
        vec![streaming(), text("Once "), Act::Close],
        vec![streaming(), text("Once "), Act::Reset],
        vec![head(200, "transfer-encoding: chunked\r\n"), Act::Send(b"zz\r\n".to_vec()), Act::Close],
    ] {
        let error = fails(script, &patient()).await;
        assert_eq!((error.kind, error.retryable), (ErrorKind::Network, true), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_whole_is_one_whatever_follows() {
    let options = HttpOptions { idle: SHORT, ..patient() };
    for rest in [vec![done()], vec![], vec![Act::Close], vec![Act::Reset], vec![Act::Hang], vec![done(), Act::Hang]] {
        let script = [vec![streaming(), text("Hi"), finish()], rest].concat();
        let server = Server::start(vec![script]).await;
        let (reply, said) = ask(&*server.model(&options)).await;
        assert_eq!((reply.unwrap().content, said.as_str()), (answer("Hi"), "Hi"));
    }
}

#[tokio::test]
async fn usage_is_waited_for_no_longer_than_needed() {
    for rest in [Act::Hang, Act::Comments(LONG)] {
        let server = Server::start(vec![vec![streaming(), text("Hi"), finish(), rest]]).await;
        let begun = Instant::now();
        assert_eq!(ask(&*server.model(&patient())).await.0.unwrap().content, answer("Hi"));
        assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn half_characters_are_read() {
    let raw = |content: &str| format!(r#"{{"choices": [{{"index": 0, "delta": {{"content": "{content}"}}}}]}}"#);
    let send = |content: &str| Act::Send(format!("data: {}\n\n", raw(content)).into_bytes());
    let script = vec![streaming(), send(r"\ud800 x \ud83d"), send(r"\ude00"), finish(), done()];
    let server = Server::start(vec![script]).await;
    let (reply, said) = ask(&*server.model(&patient())).await;
    assert_eq!((reply.unwrap().content, said.as_str()), (answer("\u{fffd} x 😀"), "\u{fffd} x 😀"));
    let body = raw(r"\ud83d").replace("delta", "message").replace(r#""index""#, r#""finish_reason": "stop", "index""#);
    let server = Server::start(vec![whole(200, "", &body)]).await;
    assert_eq!(ask(&*server.model(&patient())).await.0.unwrap().content, answer("\u{fffd}"));
}

#[tokio::test]
async fn an_answer_without_end_is_left() {
    let endless_line = || vec![b'x'; REPLY_BYTES + 1];
    let whole = [b"{".to_vec(), endless_line()].concat();
    let frame = [b"data: ".to_vec(), endless_line()].concat();
    for bytes in [whole, frame] {
        let error = fails(vec![streaming(), Act::Flood(bytes)], &patient()).await;
        assert_eq!((error.kind, error.retryable), (ErrorKind::InvalidRequest, false), "{error}");
        assert!(error.message.contains("longer than any"), "{error}");
    }
}

impl Clone for Act {
    fn clone(&self) -> Self {
        match self {
            Self::Send(bytes) => Self::Send(bytes.clone()),
            Self::Flood(bytes) => Self::Flood(bytes.clone()),
            Self::Comments(time) => Self::Comments(*time),
            Self::Hang => Self::Hang,
            Self::Close => Self::Close,
            Self::Reset => Self::Reset,
        }
    }
}

#[tokio::test]
async fn refusals_are_typed() {
    let error = |message: &str, code: &str| json!({"error": {"message": message, "code": code}}).to_string();
    for (status, more, body, kind, retryable, message) in [
        (
            401,
            "",
            error("bad key secret-key-123 or gateway-s3cret", "invalid_api_key"),
            ErrorKind::Auth,
            false,
            "HTTP 401: bad key *** or ***",
        ),
        (429, "retry-after: 2\r\n", error("slow down", ""), ErrorKind::RateLimit, true, "HTTP 429: slow down"),
        (500, "", String::new(), ErrorKind::Overload, true, "HTTP 500: Internal Server Error"),
        (
            502,
            "content-type: text/html\r\n",
            "<html><h1>Bad gateway</h1></html>".to_owned(),
            ErrorKind::Overload,
            true,
            "HTTP 502: Bad gateway",
        ),
        (400, "", error("x", "context_length_exceeded"), ErrorKind::Context, false, "HTTP 400: x"),
        (404, "", error("no such model", ""), ErrorKind::InvalidRequest, false, "HTTP 404: no such model"),
    ] {
        let refused = fails(whole(status, more, &body), &patient()).await;
        assert_eq!((refused.kind, refused.retryable, refused.message.as_str()), (kind, retryable, message));
        assert_eq!(refused.retry_after, (status == 429).then(|| Duration::from_secs(2)));
    }
    let moved = fails(whole(307, "location: http://127.0.0.1:9/other\r\n", ""), &patient()).await;
    assert_eq!(moved.kind, ErrorKind::InvalidRequest);
    assert!(moved.message.contains("127.0.0.1:9/other"), "{moved}");
    for location in ["", "location:\r\n", "location: ?next=1\r\n"] {
        let unmoved = fails(whole(304, location, ""), &patient()).await;
        assert_eq!((unmoved.message.as_str(), unmoved.retryable), ("HTTP 304: Not Modified", false));
    }
    let packed = fails(whole(500, "content-encoding: gzip\r\n", "\u{1f}\u{8b}words"), &patient()).await;
    assert_eq!(packed.message, "HTTP 500: Internal Server Error");
}

#[tokio::test]
async fn a_picture_is_at_fault_only_where_one_was_sent() {
    let body = json!({"error": {"message": "messages[1].content must be a string"}}).to_string();
    let picture = Part::Image(Image { media_type: "image/png".to_owned(), data: b"x".as_slice().into() });
    let result = ToolResult { content: vec![picture.clone()], ..ToolResult::text("c", "", false) };
    for (message, sees, kind) in [
        (Message::user("q"), true, ErrorKind::InvalidRequest),
        (Message::User(vec![picture.clone()]), true, ErrorKind::Picture),
        (Message::Tool(vec![result]), true, ErrorKind::Picture),
        (Message::User(vec![picture]), false, ErrorKind::InvalidRequest),
    ] {
        let server = Server::start(vec![whole(400, "", &body)]).await;
        let mut endpoint = endpoint(Api::OpenaiCompletions, &server.url);
        endpoint.info.images = sees;
        let model = connect(endpoint, &patient()).unwrap();
        let (asked, cancel) = (request(vec![message]), Cancel::new());
        let outcome = timeout(LONG, model.reply(&asked, &mut |_| {}, &cancel)).await.unwrap();
        assert_eq!(outcome.unwrap_err().kind, kind);
    }
}

#[tokio::test]
async fn strange_successes_are_errors() {
    let credits = json!({"error": {"message": "no credits left", "code": 402}}).to_string();
    let error = fails(whole(200, "", &credits), &patient()).await;
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Auth, "HTTP 402: no credits left"));
    let page = fails(whole(200, "content-type: text/html\r\n", "\n<html>login here</html>"), &patient()).await;
    assert_eq!((page.kind, page.retryable), (ErrorKind::InvalidRequest, false));
    assert!(page.message.contains("login here") && !page.message.contains('<'), "{page}");
    assert_eq!(fails(whole(200, "", "{\"ok\": true}"), &patient()).await.kind, ErrorKind::InvalidRequest);
    assert_eq!(fails(whole(200, "", ""), &patient()).await.kind, ErrorKind::Network);
    for (status, more, word) in [
        (200, "content-encoding: GZip\r\n", "compressed (gzip)"),
        (204, "", "HTTP 204: 127.0.0.1:"),
        (205, "", "HTTP 205: 127.0.0.1:"),
    ] {
        let error = fails(whole(status, more, ""), &patient()).await;
        assert_eq!((error.kind, error.retryable), (ErrorKind::InvalidRequest, false), "{error}");
        assert!(error.message.contains(word), "{error}");
    }
    let plain =
        Server::start(vec![vec![head(200, "content-encoding: identity\r\nconnection: close\r\n"), text("Hi"), done()]])
            .await;
    assert_eq!(ask(&*plain.model(&patient())).await.0.unwrap().content, answer("Hi"));
    let words = vec![streaming(), Act::Send(b"event: error\ndata: out of memory\n\n".to_vec())];
    assert_eq!(fails(words, &patient()).await.message, "the provider reports: out of memory");
}

#[tokio::test]
async fn a_dead_address_is_named() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let model = connect(endpoint(Api::OpenaiCompletions, &format!("http://127.0.0.1:{port}/v1")), &patient()).unwrap();
    let error = ask(&*model).await.0.unwrap_err();
    assert_eq!(error.message, format!("cannot reach 127.0.0.1:{port}: connection refused"));
    assert_eq!((error.kind, error.retryable), (ErrorKind::Network, true));
}

#[tokio::test]
async fn a_proxy_is_asked_for_the_servers_it_is_meant_for() {
    let script = || vec![streaming(), text("by proxy"), finish(), done()];
    let server = Server::start(vec![script()]).await;
    let address = server.url.trim_end_matches("/v1").to_owned();
    let value = address.replace("http://", "http://me:pw@");
    let env = ProxyEnv { http: Some(Variable { name: "http_proxy", value }), ..ProxyEnv::default() };
    let options = HttpOptions { proxy: ProxySetting::FromEnv(env), ..patient() };
    let model = connect(endpoint(Api::OpenaiCompletions, "http://models.invalid/v1"), &options).unwrap();
    assert_eq!(ask(&*model).await.0.unwrap().content, answer("by proxy"));
    let sent = server.request(0);
    assert!(sent.starts_with("POST http://models.invalid/v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    assert!(
        sent.contains("proxy-authorization: Basic bWU6cHc=\r\n") && sent.contains("host: models.invalid\r\n"),
        "{sent}"
    );
    let dead = HttpOptions { proxy: ProxySetting::Url("http://me:pw@127.0.0.1:9".to_owned()), ..patient() };
    let model = connect(endpoint(Api::OpenaiCompletions, "http://models.invalid/v1"), &dead).unwrap();
    let error = ask(&*model).await.0.unwrap_err();
    assert_eq!(
        error.message,
        "cannot reach models.invalid:80 by the proxy 127.0.0.1:9 (http.proxy): connection refused"
    );
}

#[tokio::test]
async fn an_https_server_that_speaks_no_tls_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            let _ = stream.read(&mut [0; 1024]).await;
        }
    });
    let model = connect(endpoint(Api::OpenaiCompletions, &format!("https://{place}/v1")), &patient()).unwrap();
    let error = ask(&*model).await.0.unwrap_err();
    // On a system without trusted certificates the client itself cannot be made.
    assert!(
        error.message.starts_with(&format!("cannot reach {place}: ")) || error.message.contains("https client"),
        "{error}"
    );
}

#[test]
fn addresses_may_be_written_in_several_ways() {
    let of = |wire, base: &str| address(wire, base, "m").map(|url| url.to_string());
    for base in ["http://h/v1", " http://h/v1/", "http://h/v1//", "http://h/v1/chat/completions"] {
        assert_eq!(of(Wire::Chat, base).unwrap(), "http://h/v1/chat/completions");
    }
    for base in ["http://h", "http://h/", "http://h/v1", "http://h/v1/", "http://h/v1/messages"] {
        assert_eq!(of(Wire::Anthropic, base).unwrap(), "http://h/v1/messages");
    }
    assert_eq!(of(Wire::Chat, "https://h/d?api-version=1").unwrap(), "https://h/d/chat/completions?api-version=1");
    let google = |base: &str, model: &str| address(Wire::Gemini, base, model).unwrap().to_string();
    for base in [
        "http://h/v1beta",
        "http://h/v1beta/",
        "http://h/v1beta/models/",
        "http://h/v1beta/models/m:streamGenerateContent",
        "http://h/v1beta/models/other:generateContent?alt=sse",
        "http://h/v1beta/tunedModels/mine:streamGenerateContent/",
    ] {
        assert_eq!(google(base, "m"), "http://h/v1beta/models/m:streamGenerateContent?alt=sse");
    }
    for (model, segments) in [
        ("gemini-2.5-pro", "models/gemini-2.5-pro"),
        ("models/gemini-3-pro", "models/gemini-3-pro"),
        ("tunedModels/my-own", "tunedModels/my-own"),
        ("a/b c?#%é:x", "models/a%2Fb%20c%3F%23%25%C3%A9%3Ax"),
        ("models/", "models/"),
        ("..", "models/.."),
    ] {
        assert_eq!(google("http://h", model), format!("http://h/{segments}:streamGenerateContent?alt=sse"));
    }
    assert_eq!(
        google("http://h/a%20b?key=x%2F&y", "m"),
        "http://h/a%20b/models/m:streamGenerateContent?key=x%2F&y&alt=sse"
    );
    assert!(google("http://h?alt=json", "m").ends_with("?alt=json"));
    for bad in ["", "h/v1", "localhost:11434/v1", "ftp://h", "http://"] {
        assert_eq!(of(Wire::Chat, bad).unwrap_err().kind, ErrorKind::InvalidRequest, "{bad}");
    }
}

#[test]
fn what_cannot_be_used_is_said_without_secrets() {
    let refused = |change: &dyn Fn(&mut Endpoint)| {
        let mut given = endpoint(Api::OpenaiCompletions, "http://h/v1");
        change(&mut given);
        let error = HttpModel::new(given, &HttpOptions::default()).err().unwrap();
        assert!(!error.message.contains("s3cret"), "{error}");
        error
    };
    assert_eq!(refused(&|given| given.key = Some("s3cret\n".to_owned())).kind, ErrorKind::Auth);
    let header = refused(&|given| given.headers = vec![("X-A".to_owned(), "s3cret\r\n".to_owned())]);
    assert!(header.message.contains("X-A"), "{header}");
    for name in ["Content-Length", "transfer-encoding"] {
        let framing = refused(&|given| given.headers = vec![(name.to_owned(), "0".to_owned())]);
        assert!(framing.message.contains(&name.to_lowercase()), "{framing}");
    }
    assert!(refused(&|given| given.api = Api::Replay).message.contains("replay"));
    let shown = format!("{:?}", endpoint(Api::OpenaiCompletions, "http://h/v1"));
    assert!(!shown.contains("secret-key") && !shown.contains("violins") && shown.contains("***"), "{shown}");
}
