//! The names of tools: `mcp__SERVER__TOOL`, in the letters and the length that all model services accept.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The longest name that all model services accept.
const LONGEST: usize = 64;

/// Returns true for a name that is part of the names of tools as it is.
pub(super) fn is_server_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=32).contains(&name.len()) && name.chars().all(is_plain)
}

/// Returns the names under which models see the tools of a server. Tools whose names would be the same get a number that
/// depends on nothing but their own name.
pub(super) fn tool_names(server: &str, tools: &[&str]) -> Vec<String> {
    let names: Vec<String> = tools.iter().map(|tool| plain(&format!("mcp__{server}__{tool}"))).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    let name = |(tool, name): (&&str, &String)| {
        if counts[name.as_str()] == 1 && name.len() <= LONGEST {
            return name.clone();
        }
        let mut hasher = DefaultHasher::new();
        tool.hash(&mut hasher);
        let hash = format!("_{:08x}", hasher.finish() as u32);
        format!("{}{hash}", &name[..name.len().min(LONGEST - hash.len())])
    };
    tools.iter().zip(&names).map(name).collect()
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

/// Returns true if a name matches a pattern in which `*` stands for any text.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(first) else { return false };
    (0..=name.len()).any(|at| name.is_char_boundary(at) && matches(rest, &name[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_short_and_different() {
        assert_eq!(tool_names("git-hub", &["get.it", "x"]), ["mcp__git-hub__get_it", "mcp__git-hub__x"]);
        let same = tool_names("s", &["a.b", "a b", "a_b"]);
        assert_eq!(same.iter().collect::<std::collections::HashSet<_>>().len(), 3, "{same:?}");
        assert_eq!(tool_names("s", &["a b", "a.b"])[1], same[0], "the order does not matter");
        let long = tool_names("s", &[&"x".repeat(100), &"x".repeat(101)]);
        assert!(long.iter().all(|name| name.len() == LONGEST) && long[0] != long[1], "{long:?}");
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("get_*", "get_x", true),
            ("get_*", "set_x", false),
            ("*_x*", "get_x", true),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
