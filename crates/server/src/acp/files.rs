//! Files of the editor: tools see its unsaved text, and it shows their changes.

use std::path::Path;
use std::rc::Rc;

use offshoot_agent::editor::{EditorAccess, FileRequest};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use super::session::AcpSession;

/// Returns the operations that an editor with these capabilities offers.
pub(super) fn access(capabilities: &Json) -> EditorAccess {
    let offers = |name: &str| capabilities["fs"][name] == true;
    EditorAccess { read: offers("readTextFile"), write: offers("writeTextFile") }
}

impl AcpSession {
    /// Sends the requests of tools to the editor.
    pub(super) async fn serve_files(self: Rc<Self>, mut requests: mpsc::UnboundedReceiver<FileRequest>) {
        while let Some(request) = requests.recv().await {
            let session = self.clone();
            tokio::task::spawn_local(async move { session.serve_file(request).await });
        }
    }

    async fn serve_file(&self, request: FileRequest) {
        match request {
            FileRequest::Read { path, answer } => {
                let result = self.file_request("fs/read_text_file", &path, json!({})).await;
                let text = result.and_then(|result| match result.get("content") {
                    Some(Json::String(text)) => Ok(text.clone()),
                    _ => Err("its answer has no content".to_owned()),
                });
                answer.send(text);
            }
            FileRequest::Write { path, text, answer } => {
                let result = self.file_request("fs/write_text_file", &path, json!({ "content": text }));
                answer.send(result.await.map(drop));
            }
        }
    }

    async fn file_request(&self, method: &str, path: &Path, mut params: Json) -> Result<Json, String> {
        let connection = self.connection.upgrade().ok_or("the connection is closed")?;
        params["sessionId"] = self.id().into();
        params["path"] = path.to_string_lossy().into();
        connection.request(method, params).await.map_err(|failure| failure.message)
    }
}
