//! Pictures on their way: from a file to the model, into the session, and again.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Call, Host, MODEL, PROVIDER, Reply, Role, Wire, calls, say};

/// Eight by eight pixels.
const PNG: &[u8] = include_bytes!("../corpus/pictures/interlaced.png");
/// A picture that no model takes as it is.
const WEBP: &[u8] = include_bytes!("../corpus/pictures/animated.webp");

/// A host whose model sees pictures, with some of them.
fn seeing(wire: Wire) -> Host {
    let host = Host::on(wire);
    host.config(json!({"providers": {PROVIDER: {"models": [{"id": MODEL, "input": ["text", "image"]}]}}}));
    for (name, content) in [("a.png", PNG), ("notes.txt", PNG), ("b.webp", WEBP), ("cut.png", &PNG[..50])] {
        fs::write(host.work().join(name), content).unwrap();
    }
    host.file("page.png", "<html>not found</html>");
    host
}

/// The pictures in a request as they stand on its wire, in order.
fn pictures(host: &Host, request: usize) -> Vec<String> {
    fn collect(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(object) if object.get("type").is_some_and(|kind| kind == "image_url") => {
                found.push(object["image_url"]["url"].as_str().unwrap().to_owned());
            }
            Value::Object(object) if object.get("type").is_some_and(|kind| kind == "input_image") => {
                found.push(object["image_url"].as_str().unwrap().to_owned());
            }
            Value::Object(object) if object.contains_key("mimeType") => {
                let text = |key: &str| object[key].as_str().unwrap().to_owned();
                found.push(format!("data:{};base64,{}", text("mimeType"), text("data")));
            }
            Value::Object(object) if object.get("type").is_some_and(|kind| kind == "image") => {
                let source = &object["source"];
                found.push(format!(
                    "data:{};base64,{}",
                    source["media_type"].as_str().unwrap(),
                    source["data"].as_str().unwrap()
                ));
            }
            Value::Object(object) => object.values().for_each(|value| collect(value, found)),
            Value::Array(items) => items.iter().for_each(|value| collect(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    collect(&host.request(request).body, &mut found);
    found
}

#[test]
fn pictures_are_sent_kept_and_sent_again() {
    for wire in Wire::ALL {
        let host = seeing(wire);
        let read = Call::new("c1", "read_file", json!({"path": "notes.txt"}));
        host.script([calls([read]), say("Three pictures."), say("The same three.")]);
        host.task("compare @b.webp, @page.png").with(&["--image", "a.png"]).run().ok();
        let first = pictures(&host, 0);
        assert_eq!(first.len(), 2, "{wire:?}");
        assert!(first.iter().all(|picture| picture.starts_with("data:image/png;base64,iVBORw")), "{wire:?}: {first:?}");
        assert!(host.request(0).prompt().contains("<html>"), "a page is text, whatever its name");
        let all = pictures(&host, 1);
        assert_eq!((&all[..2], &all[2]), (&first[..], &first[0]), "{wire:?}");
        assert!(host.request(1).result("c1").contains("notes.txt: a PNG picture, 8×8 px, 78 B"));

        let session = host.session();
        let messages = session.messages();
        let kept = |message: &Value| {
            message["content"].as_array().unwrap().iter().filter(|part| part["type"] == "image").count()
        };
        assert_eq!((kept(messages[0]), messages[2]["content"][0]["content"][1]["type"].as_str()), (2, Some("image")));
        let shown = host.agent(&["sessions", "show", &session.id()]).run().ok().stdout;
        assert_eq!(shown.matches("[picture: image/png 8×8]").count(), 2, "{shown}");
        assert_eq!(shown.matches("[picture: image/png 6×5]").count(), 1, "{shown}");
        assert!(!shown.contains("iVBOR"), "{shown}");

        host.task("and now").with(&["-c"]).run().ok();
        assert_eq!(pictures(&host, 2), all, "{wire:?}");
    }
}

#[test]
fn what_cannot_be_sent_is_said_before_anything_is() {
    let host = seeing(Wire::Chat);
    host.script([say("ok")]);
    for (file, problem) in [
        ("none.png", "no such file or directory"),
        ("page.png", "it is no picture; PNG, JPEG, GIF, WebP and BMP are taken"),
        ("cut.png", "it begins as a PNG picture, but is damaged or incomplete"),
    ] {
        let run = host.task("look").with(&["--image", file]).run();
        assert_eq!(run.code, 2, "{}", run.stderr);
        let told = run.stderr;
        assert!(told.contains(&format!("error: --image {file}: {problem}")) && told.lines().count() == 1, "{told}");
    }
    let run = host.print("look at @cut.png").run().ok();
    assert!(run.stderr.contains("@cut.png was not attached: it begins as a PNG picture"), "{}", run.stderr);
    assert_eq!(pictures(&host, 0), [""; 0]);
}

#[test]
fn a_model_that_sees_nothing_is_told_what_was_there() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        host.config(json!({"providers": {PROVIDER: {"models": [{"id": MODEL, "input": ["text"]}]}}}));
        fs::write(host.work().join("a.png"), PNG).unwrap();
        let read = Call::new("c1", "read_file", json!({"path": "a.png"}));
        host.script([calls([read]), say("I see nothing.")]);
        let run = host.print("look at @a.png").run().ok();
        assert!(run.stderr.contains("sees no pictures"), "{}", run.stderr);
        assert_eq!(pictures(&host, 1), [""; 0]);
        let result = host.request(1).result("c1").to_owned();
        assert!(result.contains("a PNG picture, 8×8 px") && result.contains("does not see pictures"), "{result}");
    }
}

/// What servers were seen to answer to a picture they do not take, on each wire.
fn refusals() -> Vec<(Wire, u16, Value)> {
    let chat = |message: &str| json!({"error": {"message": message, "type": "invalid_request_error", "code": null}});
    let google = |message: &str| json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
    let no_projector = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj";
    let unsupported = "You uploaded an unsupported image. Please make sure your image is valid.";
    let unprocessed = json!({"type": "invalid_request_error", "message": "Could not process image"});
    vec![
        (Wire::Chat, 500, json!({"error": {"code": 500, "message": no_projector, "type": "server_error"}})),
        (Wire::Chat, 400, chat("messages[1]: unknown variant `image_url`, expected `text` at line 1 column 679289")),
        (Wire::Responses, 400, json!({"error": {"message": unsupported, "code": "invalid_image_format"}})),
        (Wire::Anthropic, 400, json!({"type": "error", "error": unprocessed, "request_id": "req_1"})),
        (Wire::Gemini, 400, google("Unable to process input image. Please retry or report in https://x.")),
        (Wire::Gemini, 400, google("Request contains an invalid argument.")),
    ]
}

#[test]
fn a_refused_picture_is_left_out_told_once_and_never_sent_again() {
    for (wire, status, refusal) in refusals() {
        let host = seeing(wire);
        host.server.allow_changed_prefix();
        let refused = Reply::body(status, "application/json", &refusal.to_string());
        let read = Call::new("c1", "read_file", json!({"path": "a.png"}));
        host.script([refused, say("I saw none."), calls([read]), say("Nor now.")]);
        let run = host.task("look").with(&["--image", "a.png"]).run().ok();
        assert_eq!((pictures(&host, 0).len(), pictures(&host, 1)), (1, vec![]), "{refusal}");
        let stub = "a picture was here (image/png 8×8); it was refused by the provider";
        assert!(host.request(1).said(Role::User).concat().contains(stub), "{refusal}");
        let told = run.notices("retry");
        assert!(told.len() == 1 && told[0]["text"].as_str().unwrap().contains("left out from now on"), "{told:?}");

        let again = host.task("and again @a.png").with(&["-c"]).run().ok();
        for request in 2..4 {
            assert_eq!(pictures(&host, request), [""; 0], "{refusal}");
            assert!(host.request(request).said(Role::User).concat().contains(stub), "{refusal}");
        }
        assert!(host.request(3).result("c1").contains(stub), "{refusal}");
        assert!(again.notices("retry").is_empty());
    }
}
