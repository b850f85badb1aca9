use serde_json::json;

use super::*;

const KEY: &str = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

fn mask(values: &[&str]) -> Mask {
    let mut mask = Mask::default();
    values.iter().for_each(|value| mask.add(value));
    mask
}

#[test]
fn keys_are_taken_out_of_texts() {
    let mask = mask(&[KEY, " sk-short1 \n", "ollama", "not-needed", ""]);
    assert_eq!(mask.apply(&format!("A={KEY}\nB=sk-short1;")), "A=[masked key]\nB=[masked key];");
    assert_eq!(mask.apply("ollama is not-needed"), "ollama is not-needed");
    assert!(matches!(mask.apply("nothing"), Cow::Borrowed("nothing")));
    assert!(!format!("{mask:?}").contains("sk-"));
}

#[test]
fn a_key_that_was_cut_is_taken_out_too() {
    let mask = mask(&[KEY]);
    assert_eq!(mask.apply(&format!("key {}", &KEY[..30])), "key [masked key]");
    assert_eq!(
        mask.apply(&format!("{} rest {}…", &KEY[20..], &KEY[..25])),
        "[masked key] rest [masked key]…"
    );
    let short = format!("{} {}", &KEY[..13], &KEY[40..]);
    assert_eq!(mask.apply(&short), short, "what many keys share is no key");
}

#[test]
fn details_are_masked_and_images_are_not() {
    let mut value = json!({"a": [KEY, {"b": KEY}], "c": {"type": "image", "data": KEY}});
    mask(&[KEY]).apply_to_json(&mut value);
    let expected = json!({"a": ["[masked key]", {"b": "[masked key]"}], "c": {"type": "image", "data": KEY}});
    assert_eq!(value, expected);
}
