use super::*;
use crate::transform::ToolResult;

const LIMITS: ImageLimits = ImageLimits {
    count: 20,
    bytes: 10_000,
    bytes_of_one: 1_000,
    side: 8_000,
    side_of_many: Some((4, 2_000)),
};

fn encoded(bytes: &[u8]) -> Part {
    Part::Image { data: base64::engine::general_purpose::STANDARD.encode(bytes), mime_type: "image/x".into() }
}

/// The beginning of a PNG, and as many bytes more.
fn png(width: u32, height: u32, more: usize) -> Part {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(vec![7; more]);
    encoded(&bytes)
}

fn side(image: &Part) -> Option<u32> {
    longer_side(data(image).unwrap())
}

/// Limits consecutive images and returns a word for each.
fn limited(images: Vec<Part>, limits: ImageLimits) -> String {
    let mut turns: Vec<Turn> = images.into_iter().map(|image| Turn::User(vec![image])).collect();
    limit_images(&mut turns, limits);
    let spell = |turn: &Turn| match turn {
        Turn::User(parts) => match &parts[..] {
            [Part::Image { .. }] => 'i',
            [Part::Text(text)] if text == TOO_MANY => 'm',
            [Part::Text(text)] if text == TOO_LARGE => 'l',
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    turns.iter().map(spell).collect()
}

#[test]
fn of_too_many_images_the_oldest_are_left_out_several_at_once() {
    let images = |count| vec![png(10, 10, 0); count];
    assert_eq!(limited(images(20), LIMITS), "i".repeat(20));
    assert_eq!(limited(images(21), LIMITS), "mm".to_owned() + &"i".repeat(19));
    assert_eq!(limited(images(22), LIMITS), "mm".to_owned() + &"i".repeat(20), "what stands in front stays");
    assert_eq!(limited(images(3), ImageLimits { count: 1, ..LIMITS }), "mmi");
    assert_eq!(limited(images(3), ImageLimits { count: 0, ..LIMITS }), "mmm");
}

#[test]
fn images_that_are_too_many_bytes_together_are_left_out_but_never_the_last_one() {
    let images = |count| vec![png(10, 10, 600); count];
    assert_eq!(limited(images(12), LIMITS), "i".repeat(12));
    assert_eq!(limited(images(13), LIMITS), "mm".to_owned() + &"i".repeat(11));
    assert_eq!(limited(images(2), ImageLimits { bytes: 1_000, ..LIMITS }), "mi");
    assert_eq!(limited(vec![png(10, 10, 600), png(10, 10, 900)], LIMITS), "il", "one alone may be too large");
}

#[test]
fn many_images_have_to_be_smaller_than_a_few() {
    let large = || png(2_001, 10, 0);
    let small = || png(2_000, 10, 0);
    assert_eq!(limited(vec![large(), small(), small(), small()], LIMITS), "iiii");
    assert_eq!(limited(vec![large(), small(), small(), small(), small()], LIMITS), "liiii");
    assert_eq!(limited(vec![png(10, 8_001, 0)], LIMITS), "l");
}

#[test]
fn images_in_results_count_too() {
    let result =
        ToolResult { id: "c".into(), name: "read".into(), parts: vec![png(9_000, 1, 0)], is_error: false };
    let mut turns = vec![Turn::Results(vec![result])];
    limit_images(&mut turns, LIMITS);
    assert!(matches!(&turns[0], Turn::Results(results) if results[0].text() == TOO_LARGE), "{turns:?}");
}

#[test]
fn every_kind_of_image_tells_its_size() {
    assert_eq!(side(&png(300, 40, 9)), Some(300));
    assert_eq!(side(&encoded(b"GIF89a\x2c\x01\x28\0\0\0")), Some(300));
    let jpeg = b"\xff\xd8\xff\xe1\0\x04ab\xff\xc2\0\x11\x08\x00\x28\x01\x2c\x03";
    assert_eq!(side(&encoded(jpeg)), Some(300));
    assert_eq!(side(&encoded(b"RIFF....WEBPVP8X\x0a\0\0\0\0\0\0\0\x2b\x01\0\x27\0\0")), Some(300));
    assert_eq!(side(&encoded(b"RIFF....WEBPVP8 \x0a\0\0\0...\x9d\x01\x2a\x2c\x01\x28\0")), Some(300));
    assert_eq!(side(&encoded(b"RIFF....WEBPVP8L\x0a\0\0\0\x2f\x2b\xc1\x09\0")), Some(300));
}

#[test]
fn an_image_that_cannot_be_read_is_sent_as_it_is() {
    for bytes in [&b""[..], b"\x89PNG", b"\xff\xd8\xff\xe1\0\0", b"\xff\xd8\0", b"RIFF....WEBPVP8?", b"odd"] {
        assert_eq!(side(&encoded(bytes)), None, "{bytes:?}");
    }
    let odd = |data: &str| Part::Image { data: data.into(), mime_type: "image/png".into() };
    for data in ["aW1ng", "é", "====", "no base64!"] {
        assert_eq!(side(&odd(data)), None);
    }
    assert_eq!(limited(vec![odd("aW1n")], LIMITS), "i");
}
