//! A conversation at a terminal, from the first prompt to coming back: what the screen shows and what the file holds.

mod branches;
mod busy;
mod endings;
mod extensions;
mod hooks;
mod journey;
mod layout;
mod locked;
mod picker;
mod questions;
mod queue;
mod resources;
mod screens;
mod sharing;
mod typing;
pub(crate) mod screen;

use std::path::PathBuf;

use serde_json::Value;
use testkit::model_server::{ModelServer, Reply};

use crate::support::{Home, files};
use crate::talk::set_up;
use screen::Screen;

/// A server that gives these answers, one after the other.
fn answering(answers: &[&str]) -> ModelServer {
    ModelServer::start(answers.iter().map(|text| Reply::answer().text(text))).unwrap()
}

fn start(home: &Home, arguments: &[&str]) -> Screen {
    Screen::start(&home.command(arguments), 100, 30)
}

/// A conversation that has begun, and gets these answers.
fn talking(answers: &[&str]) -> (Home, ModelServer, Screen) {
    talking_to(answering(answers))
}

/// A conversation that has begun, with this server.
fn talking_to(server: ModelServer) -> (Home, ModelServer, Screen) {
    let home = Home::new();
    set_up(&home, &server, "anthropic-messages");
    let screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    (home, server, screen)
}

/// A conversation with two branches: Node, which was taken back, and Rust.
fn two_branches() -> (Home, ModelServer, Screen) {
    let (home, server, mut screen) = talking(&["Node it is.", "Rust it is."]);
    screen.ask("Use Node", "Node it is.");
    screen.say("/undo");
    screen.wait_for("› Use Node");
    screen.send("\x15");
    screen.ask("Use Rust", "Rust it is.");
    (home, server, screen)
}

/// Starts the program with ids that were not used before.
fn start_again(home: &Home, ids: u32, arguments: &[&str]) -> Screen {
    Screen::start(home.command(arguments).env("OFFSHOOT_IDS", ids.to_string()), 100, 30)
}

/// The only session file, and its entries.
fn session(home: &Home) -> (PathBuf, Vec<Value>) {
    let (path, bytes) = files(&home.path("offshoot/sessions")).into_iter().next().unwrap();
    (path, entries(&bytes))
}

fn entries(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The texts of all messages of a role, in file order.
fn said(entries: &[Value], role: &str) -> Vec<String> {
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks.as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect(),
    };
    let messages = entries.iter().map(|entry| &entry["message"]).filter(|message| message["role"] == role);
    messages.map(text).collect()
}

fn last(home: &Home) -> Value {
    session(home).1.pop().unwrap()
}
