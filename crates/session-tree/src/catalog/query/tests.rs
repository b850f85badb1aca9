//! Conditions and patterns in queries; words and phrases are tested with the listing.

use super::*;

fn row() -> SessionSummary {
    SessionSummary {
        id: "0197-abc".into(),
        cwd: "/home/me/My Project".into(),
        name: Some("Zig greeter".into()),
        first_message: Some("Build a CLI".into()),
        tip_count: 2,
        ..SessionSummary::bare("a.jsonl".into(), 0, Timestamp::parse("2025-06-02T12:00:00Z").unwrap())
    }
}

fn relevance(query: &str, text: Option<&str>) -> Option<Relevance> {
    SessionQuery::parse(query).matches(&row(), text)
}

fn fits(query: &str) -> bool {
    relevance(query, None).is_some()
}

#[test]
fn a_pattern_takes_the_rest_of_the_query_and_ignores_case() {
    let said = Some("error: 42 files\nDone");
    assert_eq!(relevance("re:z.g GREET", said), Some(Relevance::Name));
    assert_eq!(relevance(r"re:ERROR: \d+ files$", said), None);
    assert_eq!(relevance(r"re:ERROR: \d+ files", said), Some(Relevance::Elsewhere));
    assert_eq!(relevance(r"re:^0197-[a-c]+$", None), Some(Relevance::Elsewhere));
    assert_eq!(relevance(r"zig re:error: \d+", said), Some(Relevance::Elsewhere));
    assert_eq!(relevance(r"zag re:error: \d+", said), None);
    assert_eq!(relevance(r#"re:"cli""#, None), None, "quotes are part of the pattern");
}

#[test]
fn nothing_fits_a_pattern_that_is_empty_or_unreadable() {
    for query in ["re:", "re:  ", "re:(", "re:[a", "zig re:*"] {
        assert_eq!(relevance(query, Some("(*[a")), None, "{query}");
        assert!(!SessionQuery::parse(query).is_empty(), "{query}");
        assert!(!SessionQuery::parse(query).is_in("zig (*[a"), "{query}");
    }
}

#[test]
fn a_pattern_begins_a_word_outside_of_quotes() {
    assert!(SessionQuery::parse("fire:x").is_in("fire:x"));
    assert!(SessionQuery::parse("\"a re:.\"").is_in("a re:."));
    assert!(!SessionQuery::parse("\"a re:.\"").is_in("a b"));
}

#[test]
fn dates_are_compared_to_the_last_activity() {
    for (query, expected) in [
        ("after:2025-06-02", true),
        ("after:2025-06-03", false),
        ("before:2025-06-03", true),
        ("before:2025-06-02", false),
        ("after:2025-06-02T12:00:00Z", true),
        ("after:2025-06-02T12:00:00.001Z", false),
        ("before:2025-06-02T12:00:00Z", false),
        ("before:2025-06-02T15:00:00+02:00", true),
        ("after:2025-06-01 before:2025-06-03", true),
        ("after:soon", false),
        ("before:2025-06", false),
    ] {
        assert_eq!(fits(query), expected, "{query}");
    }
}

#[test]
fn directories_branches_and_names_are_conditions() {
    let nameless = SessionSummary { name: None, tip_count: 1, ..row() };
    for query in ["has:branch", "has:branches", "is:named"] {
        assert!(fits(query), "{query}");
        assert_eq!(SessionQuery::parse(query).matches(&nameless, None), None, "{query}");
    }
    assert!(fits("cwd:project") && fits("cwd:\"/my project\" zig") && fits("cwd:/home is:named"));
    assert!(!fits("cwd:greeter") && !fits("cwd:\"your project\""));
    assert_eq!(
        relevance("cwd:me zig", None),
        Some(Relevance::Name),
        "conditions do not change how well words fit"
    );
}

#[test]
fn an_invalid_condition_is_a_word() {
    assert!(SessionQuery::parse("is:blue cwd: model:x").is_in("cwd: IS:BLUE model:x"));
    assert!(!SessionQuery::parse("is:blue").is_in("is named"));
}

#[test]
fn a_query_of_conditions_needs_no_text() {
    let asks = |query: &str| SessionQuery::parse(query).asks_for_text();
    assert!(!asks("") && !asks("is:named after:2025-01-01") && asks("is:named x") && asks("re:x"));
    assert!(SessionQuery::parse(" ").is_empty() && !SessionQuery::parse("is:named").is_empty());
}
