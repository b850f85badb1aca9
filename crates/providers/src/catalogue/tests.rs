use offshoot_agent::model::ThinkingLevel;

use super::*;

fn settings(text: &str) -> Settings {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_built_in_models_can_be_read_and_make_sense() {
    let read: Settings = serde_json::from_str(BUILT_IN).unwrap();
    let listed: usize = read.providers.values().map(|provider| provider.models.len()).sum();
    let targets: Vec<Target> = Catalogue::built_in().targets().collect();
    assert_eq!(targets.len(), listed, "every wire format is known");
    assert!(listed > 30);
    for target in &targets {
        let (name, spec) = (target.spec.full_name(), &target.spec);
        assert!(spec.max_output <= spec.context_window && spec.max_output > 0, "{name}");
        assert!(spec.price.output > spec.price.input && spec.price.input >= spec.price.cache_read, "{name}");
        assert!(spec.thinking_levels.is_sorted(), "{name}");
        assert!(!target.key_variables.is_empty() && target.base_url.starts_with("https://"), "{name}");
    }
}

#[test]
fn a_model_is_found_by_its_full_name_its_id_or_a_part_that_is_unique() {
    let catalogue = Catalogue::built_in();
    for name in ["anthropic/claude-haiku-4-5", "claude-haiku-4-5", "haiku-4-5"] {
        assert_eq!(catalogue.find(name).unwrap().spec.full_name(), "anthropic/claude-haiku-4-5");
    }
    // Both providers have it; the full name of one is a part of the other's.
    assert_eq!(catalogue.find("openai/gpt-5.1").unwrap().spec.provider, "openai");
    assert_eq!(catalogue.find("openrouter/openai/gpt-5.1").unwrap().spec.id, "openai/gpt-5.1");
    assert!(
        matches!(catalogue.find("sonnet"), Err(Error::AmbiguousModel { candidates, .. }) if candidates.len() > 3)
    );
    for name in ["", "nonsense", "anthropic/gpt-5", "ollama/"] {
        assert!(matches!(catalogue.find(name), Err(Error::UnknownModel { .. })), "{name}");
    }
}

#[test]
fn a_dated_version_of_a_model_is_that_model() {
    let catalogue = Catalogue::built_in();
    let dated = catalogue.find("anthropic/claude-sonnet-4-5-20250929").unwrap().spec;
    assert_eq!((dated.id.as_str(), dated.context_window), ("claude-sonnet-4-5-20250929", 200_000));
    assert_eq!(catalogue.find("openai/gpt-4o-2024-11-20").unwrap().spec.max_output, 16_384);
    assert!(catalogue.find("anthropic/claude-sonnet-4-5-latest").is_err());
}

#[test]
fn a_provider_that_hosts_anything_answers_to_any_id() {
    let target = Catalogue::built_in().find("ollama/qwen3:8b").unwrap();
    assert_eq!((target.spec.id.as_str(), target.api), ("qwen3:8b", Api::OpenAiCompletions));
    assert_eq!(target.key_variables, [] as [&str; 0]);
}

#[test]
fn the_users_models_go_over_the_built_in_ones() {
    let mine = settings(
        r#"{"providers": {
            "openai": {"baseUrl": "http://gateway/v1/", "models": [{"id": "gpt-5", "contextWindow": 9000}, {"id": "new"}]},
            "lab": {"baseUrl": "http://lab", "api": "anthropic-messages", "headers": {"x-team": "a"},
                    "models": [{"id": "m", "thinkingLevels": ["off", "high"], "readsImages": true}]}
        }}"#,
    );
    let catalogue = Catalogue::built_in().merged(mine);
    let gpt = catalogue.find("openai/gpt-5").unwrap();
    assert_eq!((gpt.spec.context_window, gpt.spec.max_output), (9_000, USUAL));
    assert_eq!(gpt.base_url, "http://gateway/v1");
    assert_eq!(gpt.key_variables, ["OPENAI_API_KEY"]);
    assert!(catalogue.find("openai/new").is_ok() && catalogue.find("openai/gpt-5-mini").is_ok());
    let lab = catalogue.find("lab/m").unwrap();
    assert_eq!(lab.api, Api::AnthropicMessages);
    assert_eq!(lab.headers["x-team"].reveal(), "a");
    assert_eq!(lab.spec.thinking_levels, [ThinkingLevel::Off, ThinkingLevel::High]);
}

const USUAL: u64 = 16_384;

#[test]
fn a_wire_format_that_nobody_speaks_is_named() {
    let odd = settings(r#"{"providers": {"lab": {"api": "morse", "models": [{"id": "m"}]}}}"#);
    let error = Catalogue::default().merged(odd).find("lab/m").unwrap_err();
    assert_eq!(error.to_string(), "lab has the wire format `morse`, which is not known");
}
