//! Images of a text that is being typed: a mark such as `[image #1]` stands for each, and is sent with the text.
//!
//! Numbers are given once, so that a text that comes back from the history still means the same images.

use session_tree::Image;

/// The images that were attached so far.
#[derive(Debug, Default)]
pub(super) struct Images {
    all: Vec<(String, Image)>,
}

const BEGIN: &str = "[image #";

impl Images {
    /// Takes an image; returns its mark.
    pub(super) fn add(&mut self, image: Image) -> String {
        let mark = format!("{BEGIN}{}]", self.all.len() + 1);
        self.all.push((mark.clone(), image));
        mark
    }

    /// Takes the images of a text and returns the text with their marks: in the place of the marks that are there, the
    /// others at its end.
    pub(super) fn put(&mut self, text: &str, images: Vec<Image>) -> String {
        let mut images = images.into_iter();
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, mark, after)) = next_mark(rest) {
            out.push_str(before);
            match images.next() {
                Some(image) => out.push_str(&self.add(image)),
                None => out.push_str(mark),
            }
            rest = after;
        }
        out.push_str(rest);
        for image in images {
            let blank = if out.is_empty() || out.ends_with(char::is_whitespace) { "" } else { " " };
            out = format!("{out}{blank}{}", self.add(image));
        }
        out
    }

    /// Returns the images that marks in a text stand for, in their order.
    pub(super) fn of(&self, text: &str) -> Vec<Image> {
        let mut found = Vec::new();
        let mut rest = text;
        while let Some((_, mark, after)) = next_mark(rest) {
            found.extend(self.all.iter().find(|(known, _)| known == mark).map(|(_, image)| image.clone()));
            rest = after;
        }
        found
    }

    /// Returns all marks.
    pub(super) fn marks(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(mark, _)| mark.as_str())
    }
}

/// Finds the first mark of a text: what is before it, itself, and what is after it.
fn next_mark(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let begin = from + text[from..].find(BEGIN)?;
        let digits = text[begin + BEGIN.len()..].bytes().take_while(u8::is_ascii_digit).count();
        let end = begin + BEGIN.len() + digits;
        if digits > 0 && text[end..].starts_with(']') {
            return Some((&text[..begin], &text[begin..=end], &text[end + 1..]));
        }
        from = end;
    }
}

#[cfg(test)]
mod tests;
