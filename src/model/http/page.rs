//! Gets one page of the web: one GET, by the same client, proxy, certificates and errors as any request. It connects only to
//! addresses that were judged, whatever a name server says in the next moment.
//!
//! Follows no redirect, sends no cookie and no key, and does not look into what comes.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{GOOGLE, LookupIpStrategy, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, LOCATION};
use reqwest::{Response, Url};

use super::connection::{self, Failure, Stage, chain};
use super::{HttpOptions, client, invalid, place};

/// What is asked for: Markdown where a server has it, else a page.
const WANTED: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5";

/// Whether an address may be connected to.
pub type Judge = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// A page as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Content-Encoding`; none is asked for.
    pub encoding: Option<String>,
    /// Where a redirect leads, as it is written.
    pub location: Option<String>,
    /// The body, or its beginning.
    pub body: Vec<u8>,
    /// Whether the body is longer than what was taken of it.
    pub is_cut: bool,
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq)]
pub enum NoPage {
    /// The name stands for this address, which the judge refuses.
    Refused(IpAddr),
    /// It could not be had.
    Failed(Failure),
}

impl From<Failure> for NoPage {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Gets the page at `url`, of its body at most so many bytes. `judge` sees every address that the name stands for; where a
/// proxy is in the way, the proxy looks names up, and nobody is asked. An address that is in the url itself is the
/// caller's to judge.
///
/// # Errors
///
/// An address that was refused, or what went wrong before the body's end.
pub async fn get(url: &Url, options: &HttpOptions, judge: &Judge, most_bytes: usize) -> Result<Page, NoPage> {
    let settings = |error| Failure::new(Stage::Settings, error);
    let via = options.proxy.choose(url).map_err(|problem| settings(invalid(problem)))?;
    let builder = client::builder(url, via.as_ref().map(|via| &via.url), options).map_err(settings)?;
    let builder = match via {
        Some(_) => builder,
        None => {
            let resolver = resolver().map_err(|error| settings(invalid(format!("no resolver of names: {error}"))))?;
            builder.dns_resolver(Arc::new(Judged { resolver, judge: Arc::clone(judge) }))
        }
    };
    let client = client::finish(builder).map_err(settings)?;
    let failed = |error: &reqwest::Error| match chain(error).find_map(|link| link.downcast_ref::<Refused>()) {
        Some(Refused(address)) => NoPage::Refused(*address),
        None => NoPage::Failed(connection::failure(error, &place(url), via.as_ref(), options)),
    };
    let sent = client.get(url.clone()).header(ACCEPT, WANTED).send().await;
    read(sent.map_err(|error| failed(&error))?, most_bytes).await.map_err(|error| failed(&error))
}

async fn read(mut response: Response, most_bytes: usize) -> Result<Page, reqwest::Error> {
    let header = |name: HeaderName| {
        let value = response.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let mut page = Page {
        status: response.status().as_u16(),
        content_type: header(CONTENT_TYPE),
        encoding: header(CONTENT_ENCODING),
        location: header(LOCATION),
        ..Page::default()
    };
    while let Some(bytes) = response.chunk().await? {
        let room = most_bytes - page.body.len();
        page.body.extend(bytes.iter().take(room));
        if bytes.len() > room {
            page.is_cut = true;
            break;
        }
    }
    Ok(page)
}

/// The system's name servers, as reqwest asks them.
fn resolver() -> Result<TokioResolver, NetError> {
    let fallback =
        |_| TokioResolver::builder_with_config(ResolverConfig::udp_and_tcp(&GOOGLE), TokioRuntimeProvider::default());
    let mut builder = TokioResolver::builder_tokio().unwrap_or_else(fallback);
    builder.options_mut().ip_strategy = LookupIpStrategy::Ipv6AndIpv4;
    builder.build()
}

/// Looks names up, and gives their addresses away only where all of them may be connected to.
struct Judged {
    resolver: TokioResolver,
    judge: Judge,
}

/// An address that the judge refused.
#[derive(Debug, thiserror::Error)]
#[error("{0} is refused")]
struct Refused(IpAddr);

impl Resolve for Judged {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, judge) = (self.resolver.clone(), Arc::clone(&self.judge));
        Box::pin(async move {
            let found: Vec<IpAddr> = resolver.lookup_ip(name.as_str()).await?.iter().collect();
            if let Some(refused) = found.iter().find(|address| !judge(**address)) {
                return Err(Refused(*refused).into());
            }
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::time::Duration;

    /// A server that says this once, and its port.
    fn server(answer: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            stream.write_all(answer.as_bytes()).unwrap();
        });
        port
    }

    fn got(url: &str, judge: impl Fn(IpAddr) -> bool + Send + Sync + 'static, most: usize) -> Result<Page, NoPage> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options = HttpOptions { connect: Duration::from_secs(5), ..HttpOptions::default() };
        runtime.block_on(get(&Url::parse(url).unwrap(), &options, &(Arc::new(judge) as Judge), most))
    }

    #[test]
    fn a_page_is_taken_up_to_its_cap() {
        let answer = "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nabcde";
        let page = got(&format!("http://127.0.0.1:{}/", server(answer)), |_| true, 3).unwrap();
        assert_eq!((page.status, page.body.as_slice(), page.is_cut), (302, &b"abc"[..], true));
        assert_eq!((page.location.as_deref(), page.content_type.as_deref()), (Some("/x"), Some("text/plain")));
        let page = got(&format!("http://127.0.0.1:{}/", server(answer)), |_| true, 5).unwrap();
        assert_eq!((page.body.as_slice(), page.is_cut), (&b"abcde"[..], false));
    }

    #[test]
    fn a_name_is_judged_by_what_it_stands_for() {
        let answer = "HTTP/1.1 204 No Content\r\n\r\n";
        let url = format!("http://localhost:{}/", server(answer));
        match got(&url, |_| false, 9) {
            Err(NoPage::Refused(address)) => assert!(address.is_loopback()),
            other => panic!("{other:?}"),
        }
        assert_eq!(got(&url, |_| true, 9).unwrap().status, 204);
    }

    #[test]
    fn who_is_not_there_is_named() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        match got(&format!("http://127.0.0.1:{port}/"), |_| true, 9) {
            Err(NoPage::Failed(failure)) => {
                assert!(failure.error.message.contains("connection refused"), "{}", failure.error.message);
            }
            other => panic!("{other:?}"),
        }
    }
}
