//! Embeds an agent in a program, with a custom model, a custom tool and a hook.
//!
//! `cargo run -p offshoot-agent --example embed`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use futures_util::stream;
use offshoot_agent::agent::{Agent, NavigateRequest, Submission};
use offshoot_agent::event::{AgentEvent, Events};
use offshoot_agent::hooks::Hooks;
use offshoot_agent::model::{
    AnswerEvent, AnswerStream, BlockEnd, BlockStart, Model, ModelSpec, Price, Request, StopReason,
    ThinkingLevel, ToolSpec,
};
use offshoot_agent::permission::{Decision, Mode, Permissions, Rule};
use offshoot_agent::tool::{Effect, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};
use offshoot_agent::tools::ToolBox;
use serde_json::{Value as Json, json};
use session_tree::{Options, Role};

/// A model that calls the tool `weather` once and then answers with its result.
#[derive(Debug)]
struct Forecaster(ModelSpec);

impl Forecaster {
    fn new() -> Self {
        Forecaster(ModelSpec {
            provider: "example".into(),
            id: "forecaster".into(),
            name: "Forecaster".into(),
            api: "example".into(),
            context_window: 100_000,
            max_output: 4_000,
            thinking_levels: vec![ThinkingLevel::Off],
            reads_images: false,
            price: Price::default(),
        })
    }
}

impl Model for Forecaster {
    fn spec(&self) -> &ModelSpec {
        &self.0
    }

    fn answer(&self, request: Request) -> AnswerStream {
        let last = request.messages.last();
        let result = last.filter(|message| message.role() == Role::ToolResult).map(|message| message.text());
        let (block, text, stop) = match result {
            Some(weather) => (BlockStart::Text, format!("Take a coat: {weather}."), StopReason::Stop),
            None => {
                let call = BlockStart::ToolCall { id: "call-1".into(), name: "weather".into() };
                (call, json!({"city": "Graz"}).to_string(), StopReason::ToolUse)
            }
        };
        let events = [
            AnswerEvent::Begin { response_id: None },
            AnswerEvent::BlockStart { index: 0, block },
            AnswerEvent::BlockDelta { index: 0, text },
            AnswerEvent::BlockEnd { index: 0, end: BlockEnd::default() },
            AnswerEvent::End { stop },
        ];
        Box::pin(stream::iter(events.map(Ok)))
    }
}

/// A tool that returns the weather.
#[derive(Debug)]
struct Weather;

impl Tool for Weather {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "weather".into(),
            description: "Tells the weather of a city.".into(),
            parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}}),
        }
    }

    fn effect(&self, _: &Json) -> Effect {
        Effect::Other("looks at the sky".into())
    }

    fn run<'a>(&'a self, call: ToolCall, _: &'a ToolPlace) -> ToolFuture<'a> {
        let city = call.arguments["city"].as_str().unwrap_or("nowhere").to_owned();
        Box::pin(async move { ToolOutput::text(format!("snow in {city}")) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut tools = ToolBox::new();
    tools.add(Arc::new(Weather));

    let mut hooks = Hooks::new();
    hooks.on("polite", "input", |payload, _| {
        let text = format!("Please: {}", payload["text"].as_str().unwrap_or_default());
        Box::pin(async move { Ok(json!({"action": "transform", "text": text})) })
    });

    // Without an approver only calls that read inside the working directory run. This one also allows the tool `weather`.
    let mut permissions = Permissions::new(Mode::DenyAsking);
    permissions.rules.push(Rule::parse(Decision::Allow, "weather")?);

    // `Options::new().create("notes.jsonl", ".")` keeps the conversation in a file.
    let session = Options::new().in_memory(".")?;
    let agent = Agent::new(session, ".")
        .with_model(Arc::new(Forecaster::new()), ThinkingLevel::Off)
        .with_tools(tools)
        .with_approver(Arc::new(permissions))
        .with_hooks(hooks)
        .with_events(Events::new(|event| {
            if let AgentEvent::Message { id, message } = &event.event {
                println!("{id} {}: {}", message.role(), message.text());
            }
        }))
        .spawn()?;

    agent.prompt(Submission::typed("do I need a coat?")).await?;

    // Back to the first prompt: the next one becomes a branch beside it.
    let target = agent.find("leaf~1")?.to_string();
    let moved = agent.navigate(NavigateRequest { target, ..NavigateRequest::default() }).await?;
    let prompt = moved.done().and_then(|arrival| arrival.editor_text);
    println!("back at the start, with {:?} to be changed", prompt.unwrap_or_default());
    agent.prompt(Submission::typed("and an umbrella?")).await?;
    println!("{} branches", agent.read(|session| session.tree().tips().len()));
    agent.quit().await?;
    Ok(())
}
