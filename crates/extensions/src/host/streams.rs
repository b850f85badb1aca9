//! Answers of models that script reads while they grow: script asks for the next events until there are no more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt;
use futures_util::future::poll_immediate;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::{Answer, AnswerStream, Model, ModelSpec};
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use session_tree::Timestamp;
use tokio::sync::Mutex as AsyncMutex;

/// The most answers that are read at the same time.
const MOST: usize = 64;

/// The answers that script reads.
#[derive(Default)]
pub(crate) struct Streams {
    open: Mutex<BTreeMap<u64, Arc<AsyncMutex<Reading>>>>,
    next: AtomicU64,
}

/// An answer while it is read.
struct Reading {
    stream: AnswerStream,
    answer: Answer,
    spec: ModelSpec,
    time: Timestamp,
}

impl Streams {
    /// Begins to ask a model. Returns the number of the answer.
    pub(crate) fn begin(&self, model: &dyn Model, asked: &Json, time: Timestamp) -> Result<Json, String> {
        let mut open = self.open.lock();
        if open.len() >= MOST {
            return Err(format!("at most {MOST} answers are read at the same time"));
        }
        let stream = model.answer(super::perform::request(&asked["context"], &asked["options"]));
        let reading = Reading { stream, answer: Answer::default(), spec: model.spec().clone(), time };
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        open.insert(id, Arc::new(AsyncMutex::new(reading)));
        Ok(id.into())
    }

    /// Returns the next events of an answer, and its message if it has ended.
    pub(crate) async fn next(&self, id: u64, cancel: &Cancel) -> Result<Json, String> {
        let found = self.open.lock().get(&id).cloned();
        let Some(found) = found else { return Err("this answer has ended".to_owned()) };
        let mut reading = found.lock().await;
        let mut events = Vec::new();
        let mut next = cancel.unless_cancelled(reading.stream.next()).await;
        let message = loop {
            let Reading { answer, spec, time, .. } = &mut *reading;
            match next {
                None => break std::mem::take(answer).into_aborted(spec, *time),
                Some(None) => break std::mem::take(answer).into_message(spec, *time),
                Some(Some(Err(error))) => {
                    break std::mem::take(answer).into_failed(spec, *time, &error.to_string());
                }
                Some(Some(Ok(event))) => {
                    answer.take(&event);
                    events.extend(answer.update_json(&event));
                }
            }
            // Everything that is there already goes along.
            match poll_immediate(reading.stream.next()).await {
                Some(more) => next = Some(more),
                None => return Ok(json!({ "events": events })),
            }
        };
        self.open.lock().remove(&id);
        let message: Json = message.value().to_serde().unwrap_or_default();
        Ok(json!({"events": events, "message": message}))
    }
}
