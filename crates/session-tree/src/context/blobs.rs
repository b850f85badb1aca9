//! Images that are not there: oh-my-pi keeps their data in other files.

use crate::entry::Message;
use crate::json::ValueRef;

/// How a string that refers to such a file begins.
const REFERENCE: &[u8] = b"\"blob:sha256:";

/// Takes the images out of a message whose data is in another file.
pub(super) fn omit(message: &mut Message) {
    let blocks = message.value().get("content").into_iter().flat_map(ValueRef::items);
    if !blocks.clone().any(is_reference) {
        return;
    }
    let kept: Vec<&[u8]> = blocks.filter(|block| !is_reference(*block)).map(ValueRef::raw).collect();
    *message = message.with_content(&[b"[", &*kept.join(&b","[..]), b"]"].concat());
}

fn is_reference(block: ValueRef<'_>) -> bool {
    let is_image = block.get("type").is_some_and(|kind| kind.is_str("image"));
    is_image && block.get("data").is_some_and(|data| data.raw().starts_with(REFERENCE))
}
