use offshoot_agent::model::ThinkingLevel;

use super::*;

fn settings(text: &str) -> Settings {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_built_in_models_can_be_read_and_make_sense() {
    let providers = serde_json::from_str::<Settings>(PROVIDERS).unwrap().providers;
    let models = serde_json::from_str::<Models>(MODELS).unwrap().models;
    assert!(models.keys().all(|name| providers.contains_key(name)), "every provider is known");
    let listed: usize = models.values().map(Vec::len).sum();
    let targets: Vec<Target> = Catalogue::built_in().targets().collect();
    assert_eq!(targets.len(), listed, "every wire format is known");
    assert!(listed > 100);
    let names: BTreeSet<String> = targets.iter().map(|target| target.spec.full_name()).collect();
    assert_eq!(names.len(), listed, "every name is unique");
    for target in &targets {
        let (name, spec) = (target.spec.full_name(), &target.spec);
        assert!(spec.max_output <= spec.context_window && spec.max_output > 0, "{name}");
        assert!(spec.price.output >= spec.price.input && spec.price.input >= spec.price.cache_read, "{name}");
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
    for name in ["sonnet", "anthropic/claude-opus"] {
        let found = catalogue.find(name);
        assert!(
            matches!(&found, Err(Error::AmbiguousModel { candidates, .. }) if candidates.len() > 3),
            "{found:?}"
        );
    }
    for name in ["", "nonsense", "anthropic/gpt-5", "anthropic/nonsense-5", "ollama/"] {
        assert!(matches!(catalogue.find(name), Err(Error::UnknownModel { .. })), "{name}");
    }
}

#[test]
fn a_dated_version_of_a_model_is_that_model() {
    let catalogue = Catalogue::built_in();
    let dated = catalogue.find("anthropic/claude-sonnet-4-5-20250929").unwrap().spec;
    let base = catalogue.find("anthropic/claude-sonnet-4-5").unwrap().spec;
    let name = dated.id.clone();
    assert_eq!(dated, ModelSpec { id: name.clone(), name, ..base });
    assert_eq!(catalogue.find("openai/gpt-4o-2024-11-20").unwrap().spec.max_output, 16_384);
}

#[test]
fn an_id_that_is_not_listed_has_the_traits_of_its_family() {
    let catalogue = Catalogue::built_in();
    let families = [
        ("anthropic/claude-opus-9-nova", "anthropic/claude-opus-5-5"),
        ("anthropic/claude-sonnet-4-5-latest", "anthropic/claude-sonnet-4-5"),
        ("openai/gpt-9", "openai/gpt-6.1-sol"),
        ("google/gemini-9-flash", "google/gemini-3.8-flash"),
        ("openrouter/anthropic/claude-opus-9", "openrouter/anthropic/claude-opus-5.5"),
    ];
    for (name, relative) in families {
        let (found, relative) = (catalogue.find(name).unwrap(), catalogue.find(relative).unwrap());
        assert!(found.spec.full_name().ends_with(name), "{name}");
        assert_eq!(
            (found.api, &found.base_url, &found.dialect, &found.key_variables),
            (relative.api, &relative.base_url, &relative.dialect, &relative.key_variables),
            "{name}"
        );
        let id = found.spec.id.clone();
        let price = offshoot_agent::model::Price::default();
        assert_eq!(found.spec, ModelSpec { name: id.clone(), id, price, ..relative.spec }, "{name}");
    }
    // What a service hosts for its user has no family here.
    assert_eq!(catalogue.find("ollama/claude-opus-9").unwrap().spec.context_window, 128_000);
}

#[test]
fn a_model_of_the_user_has_no_family() {
    let mine = settings(
        r#"{"providers": {"lab": {"baseUrl": "http://lab", "api": "openai-completions", "models": [{"id": "qwen-7"}]}}}"#,
    );
    let found = Catalogue::built_in().merged(mine).find("lab/qwen-8");
    assert!(matches!(found, Err(Error::UnknownModel { .. })), "{found:?}");
}

#[test]
fn a_name_that_no_model_has_gets_suggestions() {
    let catalogue = Catalogue::built_in();
    let hint = |name: &str| catalogue.find(name).unwrap_err().hint().unwrap_or_default();
    assert!(hint("claude-opsu-5").contains("anthropic/claude-opus-5"), "{}", hint("claude-opsu-5"));
    assert!(hint("sonet").contains("claude-sonnet"), "{}", hint("sonet"));
    assert!(hint("anthropc/claude-haiku-4-5").contains("anthropic/claude-haiku-4-5"));
    assert_eq!(hint("no-such-thing-at-all"), "`offshoot models` lists the models");
}

#[test]
fn retired_models_are_gone_and_current_ones_have_their_limits() {
    let listed: BTreeMap<String, ModelSpec> =
        Catalogue::built_in().targets().map(|target| (target.spec.full_name(), target.spec)).collect();
    for retired in [
        "anthropic/claude-3-5-haiku-20241022",
        "anthropic/claude-3-7-sonnet-20250219",
        "google/gemini-2.0-flash",
        "google/gemini-3-pro-preview",
        "openai/gpt-5-codex",
    ] {
        assert!(!listed.contains_key(retired), "{retired}");
    }
    let limits = |name: &str| (listed[name].context_window, listed[name].max_output);
    assert_eq!(limits("anthropic/claude-sonnet-4-6"), (1_000_000, 128_000));
    assert_eq!(limits("anthropic/claude-haiku-4-5"), (200_000, 64_000));
    assert_eq!(limits("xai/grok-4.3"), (1_000_000, 30_000));
}

#[test]
fn the_generated_list_names_its_date_and_sources() {
    let list: serde_json::Value = serde_json::from_str(MODELS).unwrap();
    assert_eq!(list["about"]["date"].as_str().map(str::len), Some("2026-01-01".len()));
    assert!(list["about"]["sources"].as_array().is_some_and(|sources| !sources.is_empty()));
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
    assert_eq!(error.to_string(), "lab cannot be used: no wire format is called `morse`");
}
