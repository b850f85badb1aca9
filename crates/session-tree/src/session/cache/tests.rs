use super::*;

#[test]
fn decoded_entries_count_too() {
    let doc = Doc::parse(format!("[0{}]", ",0".repeat(500)).into_bytes()).unwrap();
    let (text, all) = (doc.text().len(), doc.memory());
    assert!(all > 5 * text);
    let mut cache = DocCache::default();
    cache.set_limit(2 * (all + text));
    cache.put(1, doc.clone());
    cache.put(2, doc.clone());
    assert_eq!((cache.young.len(), cache.old.len()), (1, 1), "one fills a generation");
    cache.set_limit(2 * (all - 1));
    cache.put(3, doc);
    assert_eq!(cache.len(), 2, "one that is larger than a generation is not kept");
}
