//! How many images go into one request, and how large they may be.
//!
//! Every request contains all images of the path, so one image too many makes the service refuse all further requests.
//! Images that do not fit become a line; the session keeps them. The oldest ones are replaced first, several at once, so
//! that the beginning of the request changes rarely.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::{Part, Turn};

/// The limits of a service. Bytes are those of base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImageLimits {
    /// How many.
    pub count: usize,
    /// How many bytes all of them may have.
    pub bytes: usize,
    /// How many bytes one may have.
    pub bytes_of_one: usize,
    /// How many pixels the longer side may have.
    pub side: u32,
    /// How many may have such a side; if there are more, all of them have to be smaller than this.
    pub side_of_many: Option<(usize, u32)>,
}

const TOO_MANY: &str = "[an earlier image was left out: the service does not take so many]";
const TOO_LARGE: &str = "[an image was left out: it is larger than the service takes]";

/// How much of an image is looked at for its size; what cameras write in front of it has its place in there.
const HEAD: usize = 256 << 10;

/// Replaces images that a service would not take by a line.
pub(crate) fn limit_images(turns: &mut [Turn], limits: ImageLimits) {
    let mut images: Vec<&mut Part> =
        turns.iter_mut().flat_map(parts).filter(|part| data(part).is_some()).collect();
    replace(&mut images, TOO_LARGE, |image| {
        image.len() > limits.bytes_of_one || longer_side(image).is_some_and(|side| side > limits.side)
    });
    let too_many = too_many(&images, limits);
    images.drain(..too_many).for_each(|image| *image = Part::Text(TOO_MANY.into()));
    if let Some((_, side)) = limits.side_of_many.filter(|(count, _)| images.len() > *count) {
        replace(&mut images, TOO_LARGE, |image| longer_side(image).is_some_and(|longer| longer > side));
    }
}

fn parts(turn: &mut Turn) -> Vec<&mut Part> {
    match turn {
        Turn::User(parts) => parts.iter_mut().collect(),
        Turn::Assistant(_) => Vec::new(),
        Turn::Results(results) => results.iter_mut().flat_map(|result| &mut result.parts).collect(),
    }
}

fn data(part: &Part) -> Option<&str> {
    match part {
        Part::Image { data, .. } => Some(data),
        Part::Text(_) => None,
    }
}

fn replace(images: &mut Vec<&mut Part>, line: &str, is_unfit: impl Fn(&str) -> bool) {
    for image in images.iter_mut().filter(|image| data(image).is_some_and(&is_unfit)) {
        **image = Part::Text(line.into());
    }
    images.retain(|image| data(image).is_some());
}

/// Returns how many of the oldest images are left out.
fn too_many(images: &[&mut Part], limits: ImageLimits) -> usize {
    let mut room = limits.bytes;
    let lengths = images.iter().rev().take(limits.count).map(|image| data(image).map_or(0, str::len));
    let fitting = lengths.take_while(|length| {
        let is_fitting = *length <= room;
        room = room.saturating_sub(*length);
        is_fitting
    });
    let least = images.len() - fitting.count();
    let rounded = least.next_multiple_of((limits.count / 10).clamp(1, 10));
    if rounded < images.len() { rounded } else { least }
}

/// Reads the longer side of an image from its first bytes.
fn longer_side(data: &str) -> Option<u32> {
    let data = data.trim_end_matches('=');
    // Whole groups of four characters: three bytes each.
    let end = if data.len() > HEAD { HEAD } else { data.len() - usize::from(data.len() % 4 == 1) };
    let bytes = STANDARD_NO_PAD.decode(data.get(..end)?).ok()?;
    let size = imagesize::blob_size(&bytes).ok()?;
    u32::try_from(size.width.max(size.height)).ok()
}

#[cfg(test)]
mod tests;
