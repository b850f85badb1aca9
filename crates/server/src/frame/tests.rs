use super::*;

async fn frames(input: &[u8], takes_headers: bool) -> Vec<Frame> {
    let mut reader = FrameReader::new(input, takes_headers);
    let mut frames = Vec::new();
    loop {
        match reader.next().await.unwrap() {
            Frame::End => return frames,
            frame => frames.push(frame),
        }
    }
}

fn text(text: &str) -> Frame {
    Frame::Text(text.as_bytes().to_vec())
}

#[tokio::test]
async fn lines_end_in_lf_only() {
    let input = "{\"a\":\"\u{2028}\u{2029}\u{85}\"}\r\n\n{\"b\":\"x\ry\"}\n{}";
    let expected =
        [text("{\"a\":\"\u{2028}\u{2029}\u{85}\"}"), text(""), text("{\"b\":\"x\ry\"}"), text("{}")];
    assert_eq!(frames(input.as_bytes(), false).await, expected);
}

#[tokio::test]
async fn a_frame_that_is_too_long_is_skipped() {
    let mut input = vec![b'x'; LONGEST_FRAME + 1];
    input.extend(b"\n{}\n");
    assert_eq!(frames(&input, false).await, [Frame::TooLong, text("{}")]);
    input.truncate(LONGEST_FRAME + 1);
    assert_eq!(frames(&input, false).await, [Frame::TooLong]);
    let header = format!("Content-Length: {}\r\n\r\n", input.len());
    let input = [header.as_bytes(), &input, b"Content-Length: 2\r\n\r\n{}"].concat();
    assert_eq!(frames(&input, true).await, [Frame::TooLong, text("{}")]);
}

#[tokio::test]
async fn a_body_has_the_length_of_its_header() {
    let input = "Content-Length: 4\r\nContent-Type: x\r\n\r\n{\n }content-length:2\r\n\r\n[]{}\n";
    assert_eq!(frames(input.as_bytes(), true).await, [text("{\n }"), text("[]"), text("{}")]);
    assert_eq!(frames(b"Content-Length: 4\n", false).await, [text("Content-Length: 4")]);
}
