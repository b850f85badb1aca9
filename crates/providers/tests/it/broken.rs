//! Hostile and broken streams: what each of them comes to.

use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::model::{Model, ModelError};
use offshoot_providers::{Api, HttpOptions};
use serde_json::json;
use session_tree::Timestamp;
use testkit::model_server::{Format, ModelServer, Reply};

use crate::support::{answer, collect, format_of, model, model_with, options, request, sees_leaving};

/// The number of frames up to the first word, `half `.
fn first_word(format: Format) -> usize {
    match format {
        Format::Anthropic => 4,
        Format::Completions => 2,
        Format::Responses => 3,
        Format::Gemini => 1,
    }
}

/// Returns the name of the error of a stream, or `complete`.
fn outcome(error: Option<&ModelError>) -> String {
    let shown = error.map_or_else(|| "complete".into(), |error| format!("{error:?}"));
    shown.split([' ', '{']).next().unwrap_or_default().to_owned()
}

fn said() -> Reply {
    Reply::answer().text("half a sentence")
}

const WHOLE: &str = "half a sentence";
const HALF: &str = "half ";

/// Name, reply, outcome, what is kept of the answer.
type Row = (&'static str, Reply, &'static str, &'static str);

fn table(format: Format) -> Vec<Row> {
    let word = first_word(format);
    let bad = |bytes: &[u8]| said().replace_frame(word, bytes);
    let huge = vec![b'x'; 200_000];
    let huge_frame = [b"data: {\"x\":\"", &huge[..], b"\"}\n\n"].concat();
    let many_lines = b"data: xxxxxxxxxxxxxxxx\n".repeat(10_000);
    let all = said().frame_count(format);
    let has_mark = matches!(format, Format::Anthropic | Format::Completions);
    vec![
        ("the connection is cut", said().cut_after(word), "BrokenStream", HALF),
        ("the connection is cut inside a frame", said().cut_inside(word, 9), "BrokenStream", HALF),
        ("the connection is cut before anything", said().cut_after(0), "BrokenStream", ""),
        ("the body ends in the middle", said().end_after(word), "BrokenStream", HALF),
        ("the body is empty", said().end_after(0), "BrokenStream", ""),
        (
            "the last frame is missing",
            said().end_after(all - 1),
            if has_mark { "complete" } else { "BrokenStream" },
            WHOLE,
        ),
        ("nothing more comes", said().stall_after(word), "Idle", HALF),
        ("nothing comes", said().stall_after(0), "Idle", ""),
        ("a frame is no JSON", bad(b"data: {\"type\": nonsense\n\n"), "Malformed", HALF),
        ("a frame is a web page", bad(b"data: <html>\n\n"), "Malformed", HALF),
        ("a frame is JSON of no meaning", bad(b"data: [1, 2]\n\n"), "complete", "half sentence"),
        ("a frame is a number", bad(b"data: 7\n\n"), "complete", "half sentence"),
        ("a frame is empty", bad(b"data:\n\n"), "complete", "half sentence"),
        ("a frame is no UTF-8", bad(b"data: {\"x\":\"\xff\xc3\"}\n\n"), "complete", "half sentence"),
        ("a comment is no UTF-8", bad(b": \xff\xfe\n\n"), "complete", "half sentence"),
        ("lines have no meaning", bad(b"nonsense\nfoo: bar\n\n"), "complete", "half sentence"),
        ("a frame is huge", bad(&huge_frame), "TooLarge", HALF),
        ("a line never ends", bad(&huge), "TooLarge", HALF),
        ("a frame has too many lines", bad(&many_lines), "TooLarge", HALF),
        ("an error in the stream", bad(b"data: {\"error\": {\"message\": \"boom\"}}\n\n"), "Service", HALF),
        ("a web page", Reply::bytes(200, "text/html; charset=utf-8", "<html>log in</html>"), "Malformed", ""),
        ("JSON instead of a stream", Reply::bytes(200, "application/json", "{\"id\": 1}"), "Malformed", ""),
        (
            "an error that says it went well",
            Reply::bytes(200, "application/json", "{\"error\": \"boom\"}"),
            "Service",
            "",
        ),
        ("a bad request", Reply::error(400, "what?"), "Refused", ""),
        ("a key that is refused", Reply::error(401, "who?"), "Key", ""),
        ("too often", Reply::error(429, "slow down").header("retry-after", "7"), "RateLimit", ""),
        ("a broken service", Reply::error(500, "boom"), "Service", ""),
        ("a service with too much to do", Reply::error(529, "later"), "Service", ""),
        ("a conversation that is too long", Reply::overflow(), "Overflow", ""),
        ("an error without words", Reply::bytes(502, "text/html", ""), "Service", ""),
        ("an error that never ends", Reply::bytes(400, "text/plain", vec![b'x'; 500_000]), "Refused", ""),
    ]
}

#[tokio::test]
async fn every_broken_stream_comes_to_a_typed_error_and_keeps_what_was_said() {
    for api in Api::ALL {
        let rows = table(format_of(api));
        let server = ModelServer::start(rows.iter().map(|(_, reply, ..)| reply.clone())).unwrap();
        let patient = HttpOptions { longest_event: 100_000, ..options() };
        let impatient = HttpOptions { idle_timeout: Duration::from_millis(500), ..patient.clone() };
        let [patient, impatient] =
            [patient, impatient].map(|options| model_with(&server.url(), api, options));
        for (name, _, wanted, kept) in rows {
            let model = if wanted == "Idle" { &impatient } else { &patient };
            let (events, error) = collect(model, request("hi")).await;
            assert_eq!(outcome(error.as_ref()), wanted, "{}: {name}: {error:?}", api.name());
            assert_eq!(answer(&events).text(), kept, "{}: {name}", api.name());
            if wanted == "RateLimit" {
                assert_eq!(error.and_then(|error| error.retry_after()), Some(Duration::from_secs(7)));
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_is_ended() {
    let endless = || Reply::answer().text(&"word ".repeat(50_000)).pieces(10_000);
    for api in Api::ALL {
        let server = ModelServer::start([endless()]).unwrap();
        let model = model_with(&server.url(), api, HttpOptions { longest_answer: 100_000, ..options() });
        let (events, error) = collect(&model, request("hi")).await;
        assert_eq!(outcome(error.as_ref()), "TooLarge");
        assert!(answer(&events).text().starts_with("word word"));
        assert!(sees_leaving(server).await, "the client leaves");
    }
}

#[tokio::test]
async fn what_is_kept_of_an_endless_answer_is_bounded() {
    let text = || Reply::answer().text(&"word ".repeat(50_000)).pieces(10_000);
    let blocks = || (0..5_000).fold(Reply::answer(), |reply, n| reply.call(&format!("c{n}"), "x", json!({})));
    let signature = || Reply::answer().thinking("hm", &"s".repeat(90_000)).text(&"word ".repeat(10_000));
    for api in Api::ALL {
        // Chat completions have no signatures.
        let signature = (api != Api::OpenAiCompletions).then(signature);
        for endless in [text(), blocks()].into_iter().chain(signature) {
            let server = ModelServer::start([endless]).unwrap();
            let limits = HttpOptions { longest_content: 100_000, ..options() };
            let model = model_with(&server.url(), api, limits);
            let (events, error) = collect(&model, request("hi")).await;
            let kept = answer(&events).into_failed(model.spec(), Timestamp::from_millis(1), "");
            let size = kept.value().to_serde().unwrap().to_string().len();
            assert!(size < 300_000, "{}: {size}", api.name());
            let shown = error.unwrap().to_string();
            assert_eq!(
                shown,
                "the answer was ended because it is larger than 100000 bytes",
                "{}",
                api.name()
            );
        }
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_is_a_matter_of_the_network() {
    let server = ModelServer::start([]).unwrap();
    let model: Arc<dyn Model> = model(&server, Api::AnthropicMessages);
    let url = server.url();
    drop(server);
    let (_, error) = collect(&model, request("hi")).await;
    let error = error.unwrap();
    assert_eq!(outcome(Some(&error)), "Network");
    assert!(error.is_transient());
    assert!(!error.to_string().contains(&url), "addresses may hold secrets: {error}");
}

#[tokio::test]
async fn the_usage_of_an_answer_that_broke_off_is_kept() {
    let usage =
        testkit::model_server::ScriptedUsage { input: 25, output: 42, cache_read: 9_000, cache_write: 500 };
    let server = ModelServer::start([said().usage(usage).cut_after(4)]).unwrap();
    let (events, _) = collect(&model(&server, Api::AnthropicMessages), request("hi")).await;
    let kept = answer(&events).usage();
    assert_eq!([kept.input, kept.output, kept.cache_read, kept.cache_write], [25, 1, 9_000, 500]);
}
