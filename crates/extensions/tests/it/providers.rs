//! Providers that extensions register, and answers that script streams or reads.

use futures_util::StreamExt;
use offshoot_agent::model::{Answer, ModelError, Request, StopReason};
use serde_json::json;

use crate::support::{Setup, Stage, stage};

const ECHO: &str = r#"
    import { createAssistantMessageEventStream, getCurrentSystemPrompt } from "@earendil-works/pi-ai";
    export default (pi) => {
        pi.registerProvider("echo", {
            baseUrl: "http://unused", apiKey: "literal-key", api: "echo-api",
            models: [{ id: "loud", name: "Loud", reasoning: false, input: ["text"], contextWindow: 9000, maxTokens: 100,
                cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } }],
            streamSimple(model, context, options) {
                const events = createAssistantMessageEventStream();
                const last = context.messages.at(-1).content;
                const said = typeof last === "string" ? last : last[0].text;
                const partial = { role: "assistant", content: [], stopReason: "stop" };
                (async () => {
                    events.push({ type: "start", partial });
                    partial.content.push({ type: "text", text: "" });
                    events.push({ type: "text_start", contentIndex: 0, partial });
                    for (const delta of [model.id, " ", getCurrentSystemPrompt(context.messages), " ", said, " ", options.apiKey]) {
                        partial.content[0].text += delta;
                        events.push({ type: "text_delta", contentIndex: 0, delta, partial });
                        await new Promise((resolve) => setTimeout(resolve, 1));
                    }
                    events.push({ type: "text_end", contentIndex: 0, content: partial.content[0].text, partial });
                    if (said === "fail") return events.push({ type: "error", reason: "error", error: { ...partial, stopReason: "error", errorMessage: "the echo broke" } });
                    if (said === "hang") return;
                    const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0 };
                    events.push({ type: "done", reason: "stop", message: { ...partial, usage } });
                })();
                options.signal.addEventListener("abort", () => pi.events.emit("aborted", said));
                return events;
            },
        });
        pi.events.on("aborted", (said) => pi.setSessionName(`aborted ${said}`));
        pi.registerCommand("models", { handler: async (_a, ctx) => {
            ctx.ui.notify(ctx.modelRegistry.getAll().map((model) => `${model.provider}/${model.id}`).join(" "));
        } });
        pi.registerCommand("remove", { handler: async () => pi.unregisterProvider("echo") });
        pi.registerCommand("ask", { handler: async (_a, ctx) => {
            const model = ctx.modelRegistry.find("echo", "loud");
            const steps = [];
            const events = ctx.modelRegistry.streamSimple(model, { systemPrompt: "s", messages: [{ role: "user", content: "hi", timestamp: 1 }] });
            for await (const event of events) steps.push(event.type);
            const message = await events.result();
            ctx.ui.notify(`${steps[0]} ${steps.filter((one) => one === "text_delta").length} ${steps.at(-1)}: ${message.content[0].text}`);
        } });
    };
"#;

fn request(text: &str) -> Request {
    let message =
        session_tree::Message::from_serialize(&json!({"role": "user", "content": text, "timestamp": 1}));
    Request { system: "be loud".into(), messages: vec![message.unwrap()], ..Request::default() }
}

async fn answered(stage: &Stage, text: &str) -> (Answer, Option<ModelError>) {
    let models = stage.host.models();
    let model = models.iter().find(|model| model.spec().full_name() == "echo/loud").expect("the model");
    let mut stream = model.answer(request(text));
    let mut answer = Answer::default();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => answer.take(&event),
            Err(error) => return (answer, Some(error)),
        }
    }
    (answer, None)
}

#[tokio::test]
async fn script_answers_for_its_models_and_streams() {
    let stage = stage(ECHO).await;
    let model = stage.host.models().into_iter().find(|model| model.spec().provider == "echo").unwrap();
    assert_eq!((model.spec().context_window, model.spec().price.output), (9_000, 2.0));
    let (answer, error) = answered(&stage, "hi").await;
    assert_eq!(error, None);
    assert_eq!(answer.text(), "loud be loud hi literal-key");
    assert_eq!((answer.stop(), answer.usage().output), (Some(StopReason::Stop), 4));
}

#[tokio::test]
async fn an_error_of_script_is_the_error_of_the_answer() {
    let stage = stage(ECHO).await;
    let (answer, error) = answered(&stage, "fail").await;
    assert_eq!(answer.text(), "loud be loud fail literal-key");
    assert_eq!(error.unwrap().to_string(), "echo refused the request: the echo broke");
}

#[tokio::test]
async fn dropping_an_answer_aborts_the_script() {
    let mut stage = stage(ECHO).await;
    let models = stage.host.models();
    let model = models.iter().find(|model| model.spec().provider == "echo").unwrap();
    let mut stream = model.answer(request("hang"));
    drop(stream.next().await);
    drop(stream);
    let named = |stage: &Stage| stage.agent.session().name().map(str::to_owned);
    for _ in 0..2_000 {
        if named(&stage).is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    stage.serve().await;
    assert_eq!(named(&stage).as_deref(), Some("aborted hang"));
}

#[tokio::test]
async fn extensions_see_and_ask_these_models_too() {
    let mut stage = stage(ECHO).await;
    stage.command("models").await.unwrap();
    assert_eq!(stage.notes(), ["info: prov/mod echo/loud"]);
    stage.command("ask").await.unwrap();
    assert_eq!(stage.notes(), ["info: start 7 done: loud s hi literal-key"]);
    stage.command("remove").await.unwrap();
    stage.command("models").await.unwrap();
    assert_eq!(stage.notes(), ["info: prov/mod"]);
}

#[tokio::test]
async fn a_provider_with_oauth_alone_is_refused_with_the_reason() {
    let stage = stage(
        "export default (pi) => pi.registerProvider('club', { baseUrl: 'http://x', api: 'openai-completions', models: [{ id: 'm' }],
             oauth: { name: 'Club', login() {}, refreshToken() {}, getApiKey() {} } })",
    )
    .await;
    let message = &stage.troubles()[0].message;
    assert!(message.contains("`club` is not used: it signs in with OAuth"), "{message}");
}

#[tokio::test]
async fn the_agent_talks_to_a_model_of_script() {
    let mut stage = Setup::default().with(&[("echo.ts", ECHO)]).await;
    let model = stage.host.models().into_iter().find(|model| model.spec().provider == "echo").unwrap();
    stage.agent.choose_model(model).unwrap();
    stage.submit("hello").await;
    assert_eq!(stage.path().last().unwrap(), "assistant: loud You are a test. hello literal-key");
}
