//! Lines that are recognised as plain results.

use super::*;

const LINE: &str = r#"{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"he said \"no\" \\"}],"isError":true,"timestamp":17}}"#;

#[test]
fn a_result_with_one_text_passes_its_message_in_any_order_and_spacing() {
    let message = LINE.split_once("\"message\":").unwrap().1.strip_suffix('}').unwrap();
    let expected = PlainResult { call_id: "c1", tool: "bash", is_error: true, message: message.as_bytes() };
    assert_eq!(PlainResult::read(LINE.as_bytes()), Some(expected));
    assert!(crate::json::Doc::parse(expected.message).is_ok());
    let spaced = LINE.replace("\"isError\":true", "\"isError\" : false ");
    assert!(!PlainResult::read(spaced.as_bytes()).unwrap().is_error);
    let turned = LINE.replace("\"role\":\"toolResult\",", "").replace("17}}", "17,\"role\":\"toolResult\"}}");
    assert_eq!(PlainResult::read(turned.as_bytes()).map(|result| result.tool), Some("bash"));
}

#[test]
fn a_result_with_anything_else_is_decoded() {
    for (from, to) in [
        ("c1", "c\\u0031"),
        ("\"isError\":true", "\"isError\":1"),
        ("\"isError\":true,", ""),
        ("17}}", "17},\"origin\":{}}"),
        ("\"id\":\"a\"", "\"id\":\"a\",\"origin\":{}"),
        (r#"\\"}]"#, r#"\\"},{"type":"image","data":""}]"#),
        (r#"\\"}]"#, r#"\"}]"#),
        (r#"\"no"#, "\"no"),
        ("he said", "he\rsaid"),
        (r#""}],"isError"#, r#""}],"details":{},"isError"#),
        ("\"type\":\"text\",", "\"type\":\"text\",\"more\":1,"),
        (",\"content\"", ",\"usage\":{},\"content\""),
    ] {
        let odd = LINE.replace(from, to);
        assert_ne!(odd, LINE);
        assert_eq!(PlainResult::read(odd.as_bytes()), None, "{odd}");
    }
}
