use super::*;

fn image(data: &str) -> Image {
    Image { data: data.into(), mime_type: "image/png".into() }
}

#[test]
fn marks_stand_for_images_in_the_order_of_the_text() {
    let mut images = Images::default();
    let (one, two) = (images.add(image("a")), images.add(image("b")));
    assert_eq!((one.as_str(), two.as_str()), ("[image #1]", "[image #2]"));
    assert_eq!(images.of(&format!("{two} is not {one}")), [image("b"), image("a")]);
    assert_eq!(images.of("[image #3] [image #] [image #x] [image #1"), []);
}

#[test]
fn images_that_come_back_get_marks_of_their_own() {
    let mut images = Images::default();
    images.add(image("other"));
    let text = images.put("see [image #1] there", vec![image("a"), image("b")]);
    assert_eq!(text, "see [image #2] there [image #3]");
    assert_eq!(images.of(&text), [image("a"), image("b")]);
    assert_eq!(images.put("", vec![image("c")]), "[image #4]");
    assert_eq!(images.put("no [image #9]", Vec::new()), "no [image #9]");
}
