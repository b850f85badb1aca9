//! The command line: commands, prompts, and errors of bad queries.

use crate::support::{Home, files};

fn sessions(home: &Home) -> usize {
    let dir = home.path("offshoot/sessions");
    if dir.exists() { files(&dir).len() } else { 0 }
}

#[test]
fn a_mistyped_command_is_an_error_with_a_suggestion() {
    let home = Home::new();
    let file = home.session("u1 user one");
    for (arguments, meant) in [
        (&["trea", file.as_str()][..], "tree"),
        (&["tre", "--json"], "tree"),
        (&["sesions"], "sessions"),
        (&["lable", "-", "x"], "label"),
        (&["trea", "--json", &file], "tree"),
        (&["--pi", "trea"], "tree"),
        (&["uninstall", "npm:x"], "remove"),
    ] {
        let run = home.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {run}");
        assert!(run.err().contains("is not a command"), "{arguments:?}: {run}");
        assert!(run.err().contains(&format!("did you mean `offshoot {meant}`?")), "{arguments:?}: {run}");
    }
    let run = home.run(&["hello"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err().contains("`offshoot -- hello` sends it as a prompt"), "{run}");
    let run = home.run(&["s.jsonl"]);
    assert!(run.err().contains("`offshoot tree s.jsonl` shows a session"), "{run}");
    assert_eq!(sessions(&home), 0, "nothing was asked");
}

#[test]
fn a_sentence_is_a_prompt_and_so_is_text_after_p_or_two_dashes() {
    let home = Home::new();
    let mut asked = 0;
    for arguments in [
        &["fix the bug"][..],
        &["how", "does", "it", "work"],
        &["work", "on", "the", "parser"],
        &["-p", "hello"],
        &["-p", "trea", "x.jsonl"],
        &["-p", "tree"],
        &["-p", "show", "me", "--no-context-files"],
        &["--print", "what", "does", "tree", "do"],
        &["--", "hello"],
        &["--", "tree"],
        &["--no-extensions", "hello"],
    ] {
        let run = home.command(arguments).env_remove("OFFSHOOT_IDS").output().unwrap();
        assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
        asked += 1;
        assert_eq!(sessions(&home), asked, "{arguments:?}");
    }
}

#[test]
fn a_bad_query_names_the_wrong_part() {
    let home = Home::new();
    let file = home.session("u1 user one");
    for (query, part, why) in [
        ("one re:[", "`re:[`", "is not a regular expression"),
        ("before:2025-13-45 one", "`before:2025-13-45`", "has no valid date"),
        ("one -after:soon", "`-after:soon`", "has no valid date"),
        ("role:usr", "`role:usr`", "user, assistant"),
        ("has:foo", "`has:foo`", "is not a condition of this search"),
    ] {
        let run = home.run(&["tree", &file, "--search", query]);
        assert_eq!(run.code, 2, "{query}: {run}");
        assert!(run.err().contains(part) && run.err().contains(why), "{query}: {run}");
        assert_eq!(run.out(), "", "{query}");
    }
    for (query, part, why) in [
        ("re:[", "`re:[`", "is not a regular expression"),
        ("one re:", "`re:`", "it is empty"),
        ("before:2025-13-45", "`before:2025-13-45`", "has no valid date"),
        ("has:foo", "`has:foo`", "has:branch"),
        ("is:foo", "`is:foo`", "is:named"),
        ("role:usr", "`role:usr`", "role"),
    ] {
        let run = home.run(&["sessions", query]);
        assert_eq!(run.code, 2, "{query}: {run}");
        assert!(run.err().contains(part) && run.err().contains(why), "{query}: {run}");
    }
}

#[test]
fn a_good_query_is_no_error() {
    let home = Home::new();
    let file = home.session("u1 user see http://x.org has:foo");
    for query in
        ["role:us", "role:me", "role:summary", "http://x.org", "\"has:foo\"", "re:h.s", "after:2024-01-01"]
    {
        assert!(home.run(&["tree", &file, "--search", query]).code == 0, "{query}");
    }
    assert!(home.run(&["tree", &file, "--search", "\"has:foo\""]).ok().contains("has:foo"));
    for query in ["has:branch", "is:named", "cwd:x", "\"has:foo\"", "http://x.org"] {
        home.run(&["sessions", query]).ok();
    }
}
