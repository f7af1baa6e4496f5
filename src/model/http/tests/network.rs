//! What stands between us and a server: names, proxies, certificates, connections that are used again.

use std::io::{Read, Write};
use std::net::{TcpListener as Listener, TcpStream as Stream};
use std::sync::mpsc::{self, Receiver};

use rcgen::{CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::probe::{list_models, probe};
use super::*;

const LIST: &str = r#"{"data": [{"id": "one"}, {"id": "two"}]}"#;

/// An authority that no system knows.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    fn trusted(&self, setting: &str) -> HttpOptions {
        let authorities =
            Authorities::Also { pem: self.pem.clone().into_bytes().into(), place: format!("{setting} (/ca.pem)") };
        HttpOptions { authorities, ..patient() }
    }

    /// A server with a certificate for this name, that answers every request with this body. What it agreed on with the
    /// client is told.
    fn serve(&self, name: &str, protocols: &[&[u8]], body: &'static str) -> (u16, Receiver<Option<Vec<u8>>>) {
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into());
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let mut config = config.with_single_cert(vec![leaf.der().clone()], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let config = Arc::new(config);
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
                let _ = stream.conn.complete_io(&mut stream.sock);
                let _ = tell.send(stream.conn.alpn_protocol().map(<[u8]>::to_vec));
                if stream.read(&mut [0; 4096]).is_ok() {
                    let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                }
            }
        });
        (port, told)
    }
}

/// Something that reads once from every connection, answers with these bytes, and closes it.
fn answering(answer: &'static str) -> u16 {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

async fn listed(base_url: &str, options: &HttpOptions) -> Result<Vec<String>, Failure> {
    probe(&endpoint(Api::OpenaiCompletions, base_url), options, &Cancel::new()).await
}

async fn failed(base_url: &str, options: &HttpOptions) -> (Stage, bool, String) {
    let Failure { stage, status: _, error } = listed(base_url, options).await.unwrap_err();
    (stage, error.retryable, error.message)
}

fn by_proxy(url: &str) -> HttpOptions {
    let env = ProxyEnv { https: Some(Variable { name: "HTTPS_PROXY", value: url.to_owned() }), ..ProxyEnv::default() };
    let env = ProxyEnv { http: Some(Variable { name: "http_proxy", value: url.to_owned() }), ..env };
    HttpOptions { proxy: ProxySetting::FromEnv(env), ..patient() }
}

fn dead_port() -> u16 {
    Listener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_and_one_that_is_unknown_is_named() {
    let ours = Authority::new("Our Proxy Root");
    let (port, _told) = ours.serve("localhost", &[], LIST);
    let url = format!("https://localhost:{port}/v1");
    assert_eq!(listed(&url, &ours.trusted("http.ca_file")).await.unwrap(), ["one", "two"]);
    let (stage, retryable, message) = failed(&url, &Authority::new("Another").trusted("SSL_CERT_FILE")).await;
    assert_eq!((stage, retryable), (Stage::Tls, false), "{message}");
    assert_eq!(
        message,
        format!(
            "cannot reach localhost:{port}: its certificate is signed by \"Our Proxy Root\", whom nobody here trusts; \
             SSL_CERT_FILE (/ca.pem) does not hold that authority's certificate"
        )
    );
    let (stage, _, message) = failed(&url, &patient()).await;
    // On a system without trusted certificates the client itself cannot be made.
    assert!(
        stage == Stage::Settings || message.contains("Our Proxy Root") && message.contains("http.ca_file"),
        "{message}"
    );
}

#[tokio::test]
async fn whole_answers_come_over_tls() {
    let ours = Authority::new("Root");
    let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (port, _told) = ours.serve("localhost", &[b"http/1.1"], body);
    let url = format!("https://localhost:{port}/v1");
    let model = connect(endpoint(Api::OpenaiCompletions, &url), &ours.trusted("x")).unwrap();
    assert_eq!(ask(&*model).await.0.unwrap().content, answer("Hi"));
}

#[tokio::test]
async fn http_2_is_spoken_where_the_server_speaks_it() {
    let ours = Authority::new("Root");
    for (offered, agreed) in [(&[&b"h2"[..], b"http/1.1"][..], Some(b"h2".to_vec())), (&[], None)] {
        let (port, told) = ours.serve("localhost", offered, LIST);
        let _ = listed(&format!("https://localhost:{port}/v1"), &ours.trusted("x")).await;
        assert_eq!(told.recv_timeout(LONG).unwrap(), agreed);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_or_its_file_is_said() {
    let ours = Authority::new("Root");
    let (port, _told) = ours.serve("other.example", &[], LIST);
    let (stage, retryable, message) = failed(&format!("https://localhost:{port}/v1"), &ours.trusted("x")).await;
    assert!(stage == Stage::Tls && !retryable && message.contains("not valid for name"), "{message}");
    let plain = answering("HTTP/1.1 400 Bad Request\r\n\r\n");
    let (stage, _, message) = failed(&format!("https://127.0.0.1:{plain}/v1"), &ours.trusted("x")).await;
    assert!(stage == Stage::Tls && message.ends_with("is http:// meant?"), "{message}");
    for content in ["", "no pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let authorities = Authorities::Also { pem: content.as_bytes().into(), place: "http.ca_file (/x)".to_owned() };
        let options = HttpOptions { authorities, ..patient() };
        let (stage, _, message) = failed(&format!("https://localhost:{port}/v1"), &options).await;
        assert!(stage == Stage::Settings && message.starts_with("http.ca_file (/x): "), "{message}");
    }
}

#[tokio::test]
async fn a_name_that_is_none_is_told_from_a_server_that_is_not_there() {
    let (stage, _, message) = failed("http://models.invalid/v1", &patient()).await;
    assert_eq!((stage, message.as_str()), (Stage::Name, "cannot reach models.invalid:80: the name is not known"));
    let port = dead_port();
    let (stage, retryable, message) = failed(&format!("http://127.0.0.1:{port}/v1"), &patient()).await;
    assert_eq!(
        (stage, retryable, message),
        (Stage::Connect, true, format!("cannot reach 127.0.0.1:{port}: connection refused"))
    );
}

#[tokio::test]
async fn a_proxy_at_fault_is_named_with_its_variable() {
    let port = dead_port();
    let options = by_proxy(&format!("http://me:s3cret@127.0.0.1:{port}"));
    let (stage, _, message) = failed("https://models.invalid/v1", &options).await;
    assert_eq!(
        (stage, message),
        (
            Stage::Proxy,
            format!("cannot reach models.invalid:443 by the proxy 127.0.0.1:{port} (HTTPS_PROXY): connection refused")
        )
    );
    let (stage, _, message) = failed("http://models.invalid/v1", &by_proxy("http://proxy.invalid:3128")).await;
    let words = "cannot reach models.invalid:80 by the proxy proxy.invalid:3128 (http_proxy): the name is not known";
    assert_eq!((stage, message.as_str()), (Stage::Proxy, words));
    for (answer, words, retryable) in [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n",
            "wants a user and a password",
            false,
        ),
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n", "refuses to connect to it", true),
        ("", "closed the connection", true),
    ] {
        let port = answering(answer);
        let found = failed("https://models.invalid/v1", &by_proxy(&format!("http://127.0.0.1:{port}"))).await;
        assert_eq!((found.0, found.1), (Stage::Proxy, retryable), "{}", found.2);
        assert!(found.2.contains(&format!("the proxy 127.0.0.1:{port} (HTTPS_PROXY) {words}")), "{}", found.2);
    }
}

#[tokio::test]
async fn a_proxy_that_does_not_accept_the_password_is_named_without_it() {
    let port = answering("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    let options = by_proxy(&format!("http://me:s3cret@127.0.0.1:{port}"));
    let words = format!("the proxy 127.0.0.1:{port} (http_proxy) does not accept the user and password it is given");
    let (stage, retryable, message) = failed("http://models.invalid/v1", &options).await;
    assert!(stage == Stage::Proxy && !retryable && message.starts_with(&words), "{message}");
    let model = connect(endpoint(Api::OpenaiCompletions, "http://models.invalid/v1"), &options).unwrap();
    let error = ask(&*model).await.0.unwrap_err();
    assert!(!error.retryable && error.message == message && !message.contains("s3cret"), "{error}");
}

#[tokio::test]
async fn what_a_server_says_to_a_wrong_key_is_told_without_the_key() {
    let body = r#"{"error": {"message": "no such key: secret-key-123"}}"#;
    let server =
        Server::start(vec![whole(401, "", body), whole(200, "", "<html>hello</html>"), whole(200, "", LIST)]).await;
    let (stage, _, message) = failed(&server.url, &patient()).await;
    assert_eq!((stage, message.as_str()), (Stage::Http, "HTTP 401: no such key: ***"));
    let sent = server.request(0);
    assert!(
        sent.starts_with("GET /v1/models HTTP/1.1\r\n") && sent.contains("authorization: Bearer secret-key-123"),
        "{sent}"
    );
    assert!(failed(&server.url, &patient()).await.2.contains("a web page instead of an answer"));
    let again = list_models(&endpoint(Api::OpenaiCompletions, &server.url), &patient(), &Cancel::new()).await;
    assert_eq!(again.unwrap(), ["one", "two"]);
}

#[tokio::test]
async fn a_list_that_does_not_come_ends_in_time_and_with_the_switch() {
    let stuck = || async { Server::start(vec![vec![Act::Hang]]).await };
    let hasty = HttpOptions { first_byte: SHORT, ..patient() };
    let (stage, _, message) = failed(&stuck().await.url, &hasty).await;
    assert!(stage == Stage::Http && message.contains("no answer from 127.0.0.1:"), "{message}");
    let (server, cancel) = (stuck().await, Cancel::new());
    let endpoint = endpoint(Api::OpenaiCompletions, &server.url);
    let options = patient();
    let asked = list_models(&endpoint, &options, &cancel);
    let thrown = async {
        while server.requests.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    assert_eq!(tokio::join!(asked, thrown).0.unwrap_err().kind, ErrorKind::Cancelled);
}

#[tokio::test]
async fn an_ipv6_address_is_an_address() {
    let Ok(listener) = Listener::bind("[::1]:0") else { return };
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{LIST}", LIST.len());
    });
    assert_eq!(listed(&format!("http://[::1]:{port}/v1"), &patient()).await.unwrap(), ["one", "two"]);
}

/// What a server does with the connection after an answer.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// It stays.
    Keep,
    /// It is closed as soon as the answer is out.
    Close,
    /// The next request is read from it, and then it is reset.
    ResetOnNext,
}

/// Answers one request after the other, and tells how many connections it took and how many requests it answered.
fn reusing(then: Then) -> (String, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (connections, answered) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counts = (Arc::clone(&connections), Arc::clone(&answered));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            counts.0.fetch_add(1, Ordering::SeqCst);
            let mut is_first = true;
            while read_whole(&mut stream) {
                if then == Then::ResetOnNext && !is_first {
                    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
                    break;
                }
                is_first = false;
                let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
                counts.1.fetch_add(1, Ordering::SeqCst);
                if then == Then::Close {
                    break;
                }
            }
        }
    });
    (url, connections, answered)
}

fn read_whole(stream: &mut Stream) -> bool {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.parse::<usize>().unwrap() {
                return true;
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return false,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}

#[test]
fn ten_turns_take_one_connection_and_one_that_was_closed_meanwhile_is_no_error() {
    for (then, expected) in [(Then::Keep, 1), (Then::Close, 10), (Then::ResetOnNext, 10)] {
        let (url, connections, answered) = reusing(then);
        let model = connect(endpoint(Api::OpenaiCompletions, &url), &patient()).unwrap();
        // As in the program: nothing runs between two turns that would see the connection close.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for turn in 1..=10 {
            let reply = runtime.block_on(ask(&*model)).0;
            assert_eq!(reply.unwrap().content, answer("Hi"), "turn {turn}");
        }
        assert_eq!(connections.load(Ordering::SeqCst), expected);
        assert_eq!(answered.load(Ordering::SeqCst), 10, "nothing was asked twice");
    }
}
