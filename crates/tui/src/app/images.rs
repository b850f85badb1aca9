//! Images for prompts: from the clipboard, or from a file whose path is pasted, as dragging one into a terminal does.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::chat::item::Tone;
use offshoot_agent::tools::{prompt_image, prompt_image_at};
use percent_encoding::percent_decode_str;
use session_tree::Image;

use super::App;

/// Programs that write the image in the clipboard to standard output, on the systems that have them.
const CLIPBOARDS: [&[&str]; 3] = [
    &["wl-paste", "--no-newline", "--type", "image/png"],
    &["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
    &["pngpaste", "-"],
];

impl App<'_> {
    /// Attaches the image whose path was pasted. Returns false for any other text.
    pub(super) fn attach_file(&mut self, pasted: &str) -> bool {
        let Some(image) = dropped_path(pasted, &self.environment.cwd).and_then(|path| prompt_image_at(&path))
        else {
            return false;
        };
        self.attach(image);
        true
    }

    /// Looks for an image in the clipboard, beside the loop: its owner may take a while.
    pub(super) fn paste_image(&mut self) {
        if self.pasting.is_none() {
            self.pasting = Some(tokio::task::spawn_blocking(image_of_clipboard));
        }
    }

    /// Attaches the image of the clipboard.
    pub(super) fn pasted(&mut self, image: Option<Image>) {
        self.pasting = None;
        match image {
            Some(image) => self.attach(image),
            None => self.tell(Tone::Warning, "no image in the clipboard; the path of a file works, too"),
        }
    }

    fn attach(&mut self, image: Image) {
        self.chat.editor.attach(image);
        if self.status.model().is_some_and(|model| !model.reads_images) {
            self.tell(Tone::Warning, "this model reads no images; /model chooses another");
        }
    }
}

fn image_of_clipboard() -> Option<Image> {
    CLIPBOARDS.iter().find_map(|command| {
        let output = Command::new(command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        prompt_image(&output.stdout)
    })
}

/// Reads a path as terminals paste it when a file is dragged into them: quoted, with backslashes, or as an address.
fn dropped_path(pasted: &str, cwd: &Path) -> Option<PathBuf> {
    let text = pasted.trim();
    if text.is_empty() || text.len() > 4096 || text.contains(['\n', '\r', '\0']) {
        return None;
    }
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let path = match inside('\'').or_else(|| inside('"')) {
        Some(quoted) => quoted.to_owned(),
        None => match text.strip_prefix("file://") {
            Some(address) => percent_decode_str(address).decode_utf8().ok()?.into_owned(),
            None => unescaped(text),
        },
    };
    Some(cwd.join(path))
}

/// Removes backslashes before blanks.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next()),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests;
