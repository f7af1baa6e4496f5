//! A model server on loopback for what is measured: it reads each request whole and hands over to a function.
//!
//! It checks nothing and knows no script; tests have a stricter one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Starts a server that lives as long as the process; `answer` writes the events of each answer. Returns its base URL.
pub fn start(mut answer: impl FnMut(&mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            read_request(&stream);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            answer(&mut stream);
        }
    });
    format!("http://{address}/v1")
}

/// Events of Chat Completions with `count` deltas of text, of five bytes each.
pub fn deltas(count: usize) -> Vec<u8> {
    let delta = |text: &str| {
        format!("data: {{\"id\":\"r\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    delta("word ").repeat(count).into_bytes()
}

/// The events that end an answer.
pub fn end() -> &'static [u8] {
    b"data: {\"id\":\"r\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
}

fn read_request(stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
}
