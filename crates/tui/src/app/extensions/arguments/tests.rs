use super::*;

fn texts(found: &[Candidate]) -> Vec<&str> {
    found.iter().map(|one| one.text.as_str()).collect()
}

#[test]
fn each_text_is_asked_about_once_and_what_was_offered_stays_until_the_answer() {
    let typed = |text: &str| ("lunch".to_owned(), text.to_owned());
    let candidate = |text: &str| Candidate { text: text.into(), what: String::new() };
    let mut offers = ArgumentCache::default();
    assert_eq!(offers.find("lunch", "t"), []);
    assert_eq!(offers.find("lunch", "t"), []);
    assert_eq!((offers.take_new(), offers.take_new()), (Some(typed("t")), None));
    offers.learn(typed("t"), vec![candidate("today"), candidate("tomorrow")]);
    assert_eq!(texts(&offers.find("lunch", "t")), ["today", "tomorrow"]);
    assert_eq!(offers.take_new(), None);
    assert_eq!(texts(&offers.find("lunch", "tom")), ["tomorrow"]);
    assert_eq!(offers.take_new(), Some(typed("tom")));
    assert_eq!(offers.find("dinner", "tom"), [], "another command");
}
