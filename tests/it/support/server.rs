//! A scripted model server on the loopback: it answers what the script says, and records and judges what it is asked.
//!
//! Plain threads, one a connection; nothing here knows a wire.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::check;
use super::host::MODEL;
use super::http::{Connection, Incoming};
use super::reply::{Ending, Instead, Reply, fail};
use super::request::Request;
use super::wire::Wire;

/// How long [`Server::wait_requests`] waits before the test fails; far above what a loaded machine needs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server. It ends, with all its connections, when it is dropped.
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    script: Script,
    requests: Vec<Arc<Request>>,
    problems: Vec<String>,
    /// Weak, so that a connection is closed when its thread is done with it.
    connections: Vec<Weak<TcpStream>>,
    keys: Vec<String>,
    secrets: Vec<String>,
    prefix_may_change: bool,
    stopped: bool,
}

enum Script {
    List(VecDeque<Reply>),
    Function(Arc<dyn Fn(&Request) -> Reply + Send + Sync>),
}

impl Default for Script {
    fn default() -> Self {
        Self::List(VecDeque::new())
    }
}

impl Server {
    /// A server that takes this key.
    pub fn start(key: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { port: listener.local_addr().unwrap().port(), shared: Arc::default() };
        server.accept_key(key);
        let shared = Arc::clone(&server.shared);
        thread::spawn(move || accept(&listener, &shared));
        server
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn base_url(&self, wire: Wire) -> String {
        wire.base_url(self.port)
    }

    /// Replaces what is left of the script: one reply for each request.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.state().script = Script::List(replies.into_iter().collect());
    }

    /// Answers every request by a function of it.
    pub fn answer(&self, function: impl Fn(&Request) -> Reply + Send + Sync + 'static) {
        self.state().script = Script::Function(Arc::new(function));
    }

    /// Takes one more key. Like all of them, it may stand in its header and nowhere else.
    pub fn accept_key(&self, key: &str) {
        self.state().keys.push(key.into());
        self.secret(key);
    }

    /// A text that may not occur in any request.
    pub fn secret(&self, secret: &str) {
        self.state().secrets.push(secret.into());
    }

    /// Lets the history change between requests, for a test about such a change.
    pub fn allow_changed_prefix(&self) {
        self.state().prefix_may_change = true;
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.state().requests.clone()
    }

    /// Waits until so many requests have arrived.
    #[track_caller]
    pub fn wait_requests(&self, count: usize) {
        let few = |state: &mut State| state.requests.len() < count;
        let (state, timeout) = self.shared.arrived.wait_timeout_while(self.state(), PATIENCE, few).unwrap();
        let arrived = state.requests.len();
        drop(state);
        assert!(!timeout.timed_out(), "{arrived} requests after {PATIENCE:?}, not {count}");
    }

    /// The times between one request's arrival and the next one's.
    pub fn gaps(&self) -> Vec<Duration> {
        let arrivals: Vec<Instant> = self.requests().iter().map(|request| request.arrived).collect();
        arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// How many replies nobody asked for.
    pub fn left(&self) -> usize {
        match &self.state().script {
            Script::List(replies) => replies.len(),
            Script::Function(_) => 0,
        }
    }

    /// Takes out what was wrong so far.
    pub fn take_problems(&self) -> Vec<String> {
        std::mem::take(&mut self.state().problems)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut state = self.state();
        state.stopped = true;
        for connection in state.connections.drain(..).filter_map(|connection| connection.upgrade()) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        // Wakes the thread that accepts, which then sees that it is over.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().filter_map(Result::ok) {
        let mut state = shared.state.lock().unwrap();
        if state.stopped {
            return;
        }
        let stream = Arc::new(stream);
        state.connections.push(Arc::downgrade(&stream));
        drop(state);
        let shared = Arc::clone(shared);
        // A client that leaves ends its thread with an error, which is its own affair.
        thread::spawn(move || serve(&stream, &shared));
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut connection = Connection::new(stream)?;
    while let Some(incoming) = connection.receive()? {
        if incoming.method == "GET" && incoming.path.split('?').next().is_some_and(|path| path.ends_with("/models")) {
            let (status, body) = listed(&incoming, shared);
            connection.whole(status, &[], "application/json", body.to_string().as_bytes())?;
            continue;
        }
        let Some(wire) = Wire::of_path(&incoming.path).filter(|_| incoming.method == "POST") else {
            let problem = json!({"error": {"message": format!("no such path: {} {}", incoming.method, incoming.path)}});
            connection.whole(404, &[], "application/json", problem.to_string().as_bytes())?;
            continue;
        };
        let (request, serial) = record(wire, incoming, shared);
        let reply = next(&request, serial, shared);
        connection.pause(reply.wait)?;
        if answer(&mut connection, wire, &reply, serial)? == After::Closed {
            break;
        }
    }
    Ok(())
}

/// The list of models, for whoever has a key.
fn listed(incoming: &Incoming, shared: &Shared) -> (u16, Value) {
    let keys = shared.state.lock().unwrap().keys.clone();
    let is_known = keys.iter().any(|key| {
        Wire::ALL.into_iter().any(|wire| {
            let (name, value) = wire.key_header(key);
            incoming.headers.get(name).is_some_and(|given| *given == value)
        })
    });
    match is_known {
        true => (200, json!({"object": "list", "data": [{"id": MODEL}]})),
        false => (401, json!({"error": {"message": "this key is not known here"}})),
    }
}

/// Reads, judges and keeps a request; returns it with its number.
fn record(wire: Wire, incoming: Incoming, shared: &Shared) -> (Arc<Request>, usize) {
    let arrived = Instant::now();
    let mut problems = Vec::new();
    let body: Value = serde_json::from_slice(&incoming.body).unwrap_or_else(|error| {
        problems.push(format!("the body is no JSON: {error}"));
        Value::Null
    });
    let model = wire.model(&incoming.path, &body);
    let conversation = wire.read(&incoming.headers, &body, &mut problems);
    check::conversation(&conversation, &mut problems);
    let request = Arc::new(Request { wire, model, headers: incoming.headers, body, arrived, conversation });
    if request.model().is_empty() {
        problems.push("no model".into());
    }

    let mut state = shared.state.lock().unwrap();
    let serial = state.requests.len();
    let in_header = |key: &String| {
        let (name, value) = wire.key_header(key);
        request.header(name) == value
    };
    if !state.keys.iter().any(in_header) {
        problems.push("no known key in its header".into());
    }
    for secret in state.secrets.iter().filter(|secret| request.mentions(secret)) {
        problems.push(format!("the secret {secret} stands in the body"));
    }
    if !state.prefix_may_change {
        check::prefix(&state.requests, &request, &mut problems);
    }
    state.problems.extend(problems.iter().map(|problem| format!("request {serial} ({wire:?}): {problem}")));
    state.requests.push(Arc::clone(&request));
    shared.arrived.notify_all();
    (request, serial)
}

fn next(request: &Request, serial: usize, shared: &Shared) -> Reply {
    let mut state = shared.state.lock().unwrap();
    let function = match &mut state.script {
        Script::Function(function) => Arc::clone(function),
        Script::List(replies) => {
            return replies.pop_front().unwrap_or_else(|| {
                state.problems.push(format!("request {serial}: the script has no reply for it"));
                fail(400, "the script has no reply for this request")
            });
        }
    };
    drop(state);
    function(request)
}

/// What becomes of a connection after an answer.
#[derive(PartialEq)]
enum After {
    Open,
    Closed,
}

fn answer(connection: &mut Connection<'_>, wire: Wire, reply: &Reply, serial: usize) -> io::Result<After> {
    match &reply.instead {
        None => return stream(connection, wire, reply, serial),
        Some(Instead::Failure(status, failure, message)) => {
            let body = wire.failure(*failure, message).to_string();
            connection.whole(*status, &reply.headers, "application/json", body.as_bytes())?;
        }
        Some(Instead::Body { status, content_type, bytes }) => {
            connection.whole(*status, &reply.headers, content_type, bytes)?;
        }
        Some(Instead::Raw(pieces)) => {
            connection.begin_stream(&reply.headers)?;
            for piece in pieces {
                connection.chunk(piece, reply.split)?;
                connection.pause(reply.pace)?;
            }
            connection.end_stream()?;
        }
    }
    Ok(After::Open)
}

fn stream(connection: &mut Connection<'_>, wire: Wire, reply: &Reply, serial: usize) -> io::Result<After> {
    let frames = wire.frames(reply, serial);
    let deltas = &frames.deltas[reply.sent(frames.deltas.len())];
    connection.begin_stream(&reply.headers)?;
    for frame in frames.start.iter().chain(deltas) {
        connection.chunk(frame.as_bytes(), reply.split)?;
        connection.pause(reply.pace)?;
    }
    match &reply.ending {
        Ending::Whole => {
            for frame in &frames.end {
                connection.chunk(frame.as_bytes(), reply.split)?;
            }
        }
        Ending::Failure(failure, message) => {
            connection.chunk(wire.failure_frame(*failure, message).as_bytes(), reply.split)?;
        }
        Ending::Cut => {}
        Ending::Stall => connection.stall()?,
        Ending::Reset => {
            connection.reset()?;
            return Ok(After::Closed);
        }
    }
    connection.end_stream()?;
    Ok(After::Open)
}
