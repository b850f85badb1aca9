//! The content of an export.

use offshoot_web::ExportOptions;
use session_tree::{Options, Session};
use testkit::drawing::session_text;

use crate::support::{THREE_WAYS, html, markdown, plain, session};

#[test]
fn the_head_shows_the_branches_and_their_ends() {
    let page = html(&session(THREE_WAYS), &plain());
    assert!(page.contains("<title>Three greeters</title>"));
    assert!(page.contains("3 branches: what was tried"));
    let current = page.find("the session ends here").unwrap();
    let abandoned = page.find("abandoned</span>").unwrap();
    assert!(current < abandoned, "the current branch comes first");
}

#[test]
fn tools_and_thinking_are_left_out_on_request() {
    let drawing = r#"
        u user list files
        ! {"type":"message","id":"a","parentId":"u","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"SECRETTHOUGHT"},{"type":"text","text":"Listing."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls SECRETARGS"}}],"model":"m","stopReason":"toolUse"}}
        ! {"type":"message","id":"r","parentId":"a","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"SECRETOUTPUT"}],"details":{"diff":"+SECRETDIFF"}}}
    "#;
    let session = session(drawing);
    let all = html(&session, &plain());
    let some = html(&session, &ExportOptions { tools: false, thinking: false, ..plain() });
    let words = ["SECRETTHOUGHT", "SECRETARGS", "SECRETOUTPUT", "SECRETDIFF"];
    for word in words {
        assert!(all.contains(word), "{word}");
        assert!(!some.contains(word), "{word}");
    }
    assert!(some.contains("Listing."));
    let text = markdown(&session, &ExportOptions { tools: false, thinking: false, ..plain() });
    assert!(words.iter().all(|word| !text.contains(word)), "{text}");
}

#[test]
fn what_comes_before_the_readable_part_is_counted() {
    let mut drawing = String::from("e0 user first\n");
    for at in 1..=400 {
        drawing.push_str(&format!("e{at}<e{} user prompt {at}\n", at - 1));
    }
    let page = html(&session(&drawing), &ExportOptions { packed: Some(true), ..plain() });
    let (before, _) = page.split_once(" entries before this are shown with JavaScript.").unwrap();
    let (_, skipped) = before.rsplit_once("The ").unwrap();
    let shown = page.matches("<article").count();
    assert_eq!(skipped.parse::<usize>().unwrap() + shown, 401);
    assert!(page.contains("prompt 400</p>") && !page.contains("prompt 100</p>"));
}

#[test]
fn an_export_changes_nothing_also_of_an_old_version() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("v1.jsonl");
    let old = concat!(
        r#"{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w","provider":"anthropic","modelId":"m"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"old words"}}"#,
        "\n"
    );
    std::fs::write(&file, old).unwrap();
    let session = Options::new().open_read_only(&file).unwrap();
    assert!(html(&session, &plain()).contains("old words"));
    drop(session);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), old);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn sessions_without_entries_and_damaged_ones_have_pages_too() {
    let empty = Session::from_bytes(session_text("")).unwrap();
    assert!(html(&empty, &plain()).contains("A session"));
    let mut bytes = session_text("a user hello\nb<a assistant hi");
    bytes.extend_from_slice(b"{\"type\":\"message\",\"id\":\"c\",\"parentId\":\"b\",\"mess\n\xff\xfe\n");
    bytes.extend_from_slice(b"{\"type\":\"message\",\"id\":\"d\",\"parentId\":\"d\",\"timestamp\":7,\"message\":{\"role\":\"user\",\"content\":{\"a\":1}}}\n");
    let damaged = Session::from_bytes(bytes).unwrap();
    assert!(html(&damaged, &plain()).contains("hello"));
}

#[test]
fn markdown_has_the_path_and_fences_cannot_be_left() {
    let text = markdown(&session(THREE_WAYS), &plain());
    assert!(text.starts_with("# Three greeters\n"), "{text}");
    assert!(text.contains("Use Rust") && !text.contains("Use Python"), "{text}");
    let fenced = r#"! {"type":"message","id":"r","parentId":null,"timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"toolResult","toolName":"x","content":"````\n# out"}}"#;
    assert!(markdown(&session(fenced), &plain()).contains("\n`````\n````\n# out\n`````\n"));
}

#[test]
fn output_of_tools_is_the_same_in_the_page_and_no_line_breaks_another() {
    let result = |id: &str, parent: &str, text: &str, end: &str| {
        format!(
            r#"! {{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:03.000Z","message":{{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{{"type":"text","text":"{text}"}}]{end}"isError":false,"timestamp":1}}}}"#
        )
    };
    let drawing = [
        "a user hi".to_owned(),
        result("b", "a", r#"a \"<b>\" \u00e9 \n"#, ","),
        result("c", "b", "spread", ", \r \"details\": {\"diff\":\r\"x\"},"),
    ];
    let page = html(&session(&drawing.join("\n")), &plain());
    let (_, part) = page.split_once("data-part=\"entries\" data-from=\"0\">").unwrap();
    let (part, _) = part.split_once("</template>").unwrap();
    let lines: Vec<&str> = part.split('\n').collect();
    assert_eq!(lines.len(), 3, "{part}");
    assert!(lines[1].contains(r#""text":"a \"\u003cb\u003e\" \u00e9 \n""#), "{}", lines[1]);
    assert!(!part.contains('\r'), "{part}");
    assert!(lines.iter().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{part}");
}

#[test]
fn a_merge_is_called_one_in_every_form() {
    let drawing = r#"
        u user hello
        ! {"type":"branch_summary","id":"s","parentId":"u","timestamp":"2025-01-01T00:00:02.000Z","fromId":"u","summary":"Went there.","details":{"merge":null}}
        ! {"type":"branch_summary","id":"m","parentId":"s","timestamp":"2025-01-01T00:00:03.000Z","fromId":"u","summary":"Came back.","details":{"merge":{"sourceLeafId":"u"}}}
    "#;
    let session = session(drawing);
    let text = markdown(&session, &plain());
    let (before, after) = text.split_once("## Merged from another branch").unwrap();
    assert!(before.contains("## Summary of another branch") && before.contains("Went there."), "{text}");
    assert!(after.contains("Came back.") && !after.contains("## Summary"), "{text}");
    let page = html(&session, &plain());
    assert_eq!(page.matches("<b>Merged from another branch</b>").count(), 1);
    assert_eq!(page.matches("<b>Summary of another branch</b>").count(), 1);
}

#[test]
fn what_extensions_said_and_damaged_lines_are_in_every_form() {
    let message = |id: &str, parent: &str, message: &str| {
        format!(
            r#"! {{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:02.000Z","message":{message}}}"#
        )
    };
    let drawing = [
        "u user hello".to_owned(),
        message("c", "u", r#"{"role":"custom","customType":"weather","content":"It rains.","display":true}"#),
        message("h", "c", r#"{"role":"hookMessage","content":[{"type":"text","text":"Hooked."}]}"#),
        message("x", "h", r#"{"role":"custom","content":"Unseen.","display":false}"#),
        message("s", "x", r#"{"role":"compactionSummary","summary":"All of before."}"#),
        message("f", "s", r#"{"role":"fileMention","content":"A file."}"#),
    ];
    let session = session(&drawing.join("\n"));
    let (text, page) = (markdown(&session, &plain()), html(&session, &plain()));
    let still = page.split_once("<section id=\"still\">").unwrap().1;
    for (heading, words) in [
        ("weather", "It rains."),
        ("hookMessage", "Hooked."),
        ("Compaction", "All of before."),
        ("fileMention", "A file."),
    ] {
        assert!(text.contains(&format!("## {heading}\n")) && text.contains(words), "{text}");
        assert!(still.contains(&format!("<b>{heading}</b>")) && still.contains(words), "{words}");
    }
    assert!(!text.contains("Unseen.") && !still.contains("Unseen."));
}

#[test]
fn links_to_branches_are_addresses_whatever_an_id_is() {
    let entry = |id: &str| {
        format!(
            r#"! {{"type":"message","id":"{id}","parentId":"u","timestamp":"2025-01-01T00:00:02.000Z","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let session = session(&["u user hello".to_owned(), entry("a/b%2"), entry("é b")].join("\n"));
    let page = html(&session, &plain());
    assert!(page.contains("href=\"#a%2Fb%252\"") && page.contains("href=\"#%C3%A9%20b\""));
}
