//! How large a page is.

use offshoot_web::ExportOptions;
use testkit::corpus::Shape;

use crate::support::{Page, html, plain, session};

#[test]
fn a_page_is_hardly_larger_than_its_session() {
    let shapes = [
        Shape::realistic(20),
        Shape::realistic(60),
        Shape::realistic(2_000),
        Shape::chain(3_000),
        Shape::star(3_000),
        Shape::mostly_images(300),
        Shape::mostly_custom(2_000),
        Shape::one_giant_line(3_000_000),
    ];
    for shape in shapes {
        let page = Page::shaped(&shape);
        let (session, size) = page.sizes;
        // The session file that a page carries is packed; images cannot be made smaller.
        let tenths = if shape.image_rate > 0.5 { 21 } else { 13 };
        let limit = session * tenths / 10 + 200_000;
        assert!(size <= limit, "{:?}, {} entries: {session} became {size}", shape.profile, shape.entries);
    }
}

#[test]
fn the_readable_part_is_small_whatever_was_run_or_called() {
    let long = "x".repeat(1 << 20);
    let command = format!(
        r#"! {{"type":"message","id":"b","parentId":"u","timestamp":"2025-01-01T00:00:02.000Z","message":{{"role":"bashExecution","command":"{long}","output":""}}}}"#
    );
    let call = format!(
        r#"! {{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:02.000Z","message":{{"role":"assistant","model":"{long}","content":[{{"type":"toolCall","id":"c","name":"{long}","arguments":{{}}}}]}}}}"#
    );
    let session = session(&["u user hello", &command, &call].join("\n"));
    let page = html(&session, &ExportOptions { packed: Some(true), ..plain() });
    assert!(page.len() < 200_000, "{}", page.len());
}
