//! The error messages of services about a conversation that is too long for the model.

/// The messages, in lower case. The parts of a phrase follow each other with anything between them; `#` is a digit.
const PHRASES: &[&[&str]] = &[
    // Anthropic: the input fits, but not together with the longest answer.
    &["input length and `max_tokens` exceed context limit"],
    &["prompt is too long"],
    &["prompt too long"],
    &["request_too_large"],
    &["input is too long for requested model"],
    &["exceeds the context window"],
    &["exceeds ", "maximum context length of #"],
    &["exceeds ", "maximum context length (#"],
    &["exceeds ", "maximum allowed input length of #"],
    &["input token count", "exceeds the maximum"],
    &["maximum prompt length is #"],
    &["reduce the length of the messages"],
    &["maximum context length is #"],
    &["longer than the model", "context length"],
    &["exceeds the limit of #"],
    &["exceeds the available context size"],
    &["greater than the context length"],
    &["context window exceeds limit"],
    &["exceeded model token limit"],
    &["too large for model with #", "maximum context length"],
    &["model_context_window_exceeded"],
    &["context length exceeded"],
    &["context_length_exceeded"],
    &["context window exceeded"],
    &["configured context size is #"],
    // llama.cpp, by its type of error.
    &["exceed_context_size_error"],
    // LM Studio.
    &["loaded with context length of only #"],
    // Ollama; its other message is "prompt too long; exceeded max context length".
    &["input length exceeds ", "context length"],
    // z.ai.
    &["prompt exceeds max length"],
    // DashScope.
    &["range of input length should be"],
    // Text Generation Inference, and Together behind it.
    &["`inputs` tokens + `max_new_tokens` must be <= #"],
    &["`inputs` must have less than #", "tokens"],
    &["too many tokens"],
    &["token limit exceeded"],
];

/// Messages that sound similar and mean something else.
const NOT_OVERFLOW: &[&str] = &["rate limit", "too many requests", "throttling", "service unavailable"];

/// Returns true if an error means that the conversation is too long.
pub(super) fn is_overflow(status: u16, kind: &str, message: &str) -> bool {
    let said = format!("{kind} {}", message.to_lowercase());
    if NOT_OVERFLOW.iter().any(|words| said.contains(words)) {
        return false;
    }
    status == 413 || PHRASES.iter().any(|phrase| matches(&said, phrase))
}

fn matches(text: &str, phrase: &[&str]) -> bool {
    let mut rest = text;
    for part in phrase {
        let Some(behind) = behind(rest, part) else { return false };
        rest = behind;
    }
    true
}

/// Returns the text after the first occurrence of a part of a phrase.
fn behind<'t>(text: &'t str, part: &str) -> Option<&'t str> {
    let Some(words) = part.strip_suffix('#') else {
        return text.split_once(part).map(|(_, behind)| behind);
    };
    text.match_indices(words)
        .map(|(place, _)| &text[place + words.len()..])
        .find(|behind| behind.starts_with(|char: char| char.is_ascii_digit()))
}
