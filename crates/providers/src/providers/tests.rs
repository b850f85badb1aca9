use super::*;
use crate::catalogue::Settings;

fn providers(variables: &'static [&'static str]) -> Providers {
    let lookup = |name: &str| variables.contains(&name).then(|| format!("sk-{name}"));
    Providers::new(Catalogue::built_in(), Credentials::of(lookup))
}

#[test]
fn the_list_says_which_keys_are_there() {
    let listed = providers(&["GOOGLE_API_KEY"]).models();
    let with_key: Vec<&str> =
        listed.iter().filter(|model| model.has_key).map(|model| model.spec.provider.as_str()).collect();
    assert!(
        with_key.contains(&"google") && with_key.contains(&"offshoot") && !with_key.contains(&"anthropic")
    );
    assert_eq!(listed.last().unwrap().spec.full_name(), "offshoot/offline");
}

#[test]
fn the_list_marks_the_models_of_the_user_and_only_those() {
    let settings: Settings = serde_json::from_str(
        r#"{"providers": {"openai": {"models": [{"id": "gpt-5"}]}, "lab": {"api": "openai-completions", "models": [{"id": "m"}]}}}"#,
    )
    .unwrap();
    let listed = Providers::new(Catalogue::built_in().merged(settings), Credentials::none()).models();
    let own: Vec<String> =
        listed.iter().filter(|model| model.is_own).map(|model| model.spec.full_name()).collect();
    assert_eq!(own, ["lab/m", "openai/gpt-5"]);
}

#[test]
fn the_source_of_a_key_is_reported() {
    let keys = providers(&["GOOGLE_API_KEY"]).keys();
    let key = |name: &str| keys.iter().find(|key| key.provider == name).unwrap();
    assert_eq!(key("google").source, Some(KeySource::Variable("GOOGLE_API_KEY".into())));
    assert_eq!(
        (&key("openai").source, key("openai").variables.as_slice()),
        (&None, &["OPENAI_API_KEY".into()][..])
    );
    assert!(key("ollama").variables.is_empty());
}

#[test]
fn without_a_name_the_first_model_with_a_key_is_taken() {
    assert_eq!(providers(&[]).default_model().spec().full_name(), "offshoot/offline");
    assert_eq!(providers(&["OPENAI_API_KEY", "MISTRAL_API_KEY"]).default_model().spec().provider, "openai");
    assert_eq!(providers(&["MISTRAL_API_KEY"]).default_model().spec().provider, "mistral");
}

#[test]
fn a_model_does_not_show_its_key() {
    let model = providers(&["ANTHROPIC_API_KEY"]).model("claude-haiku-4-5").unwrap();
    let shown = format!("{model:?}");
    assert!(shown.contains("•••") && !shown.contains("sk-"), "{shown}");
}

#[test]
fn what_cannot_be_sent_is_refused_before_it_is_sent() {
    let of = |provider: &str| {
        let text = format!(
            r#"{{"providers": {{"lab": {{"api": "openai-completions", "anyModel": true, {provider}}}}}}}"#
        );
        let settings: Settings = serde_json::from_str(&text).unwrap();
        let credentials = Credentials::of(|_| Some("sk-\u{1}bad".into()));
        Providers::new(Catalogue::default().merged(settings), credentials)
            .model("lab/m")
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        of(r#""baseUrl": "ftp://x""#),
        "lab cannot be used: its address is not an http or https URL: `ftp://x`"
    );
    assert_eq!(of(r#""headers": {}"#), "lab cannot be used: its address is not an http or https URL: ``");
    assert_eq!(
        of(r#""baseUrl": "http://x", "headers": {"x y": "1"}"#),
        "lab cannot be used: its header `x y` has characters that a header cannot carry"
    );
    let bad_key = of(r#""baseUrl": "http://x", "keyVariables": ["K"]"#);
    assert_eq!(bad_key, "lab cannot be used: its key has characters that a header cannot carry");
}
