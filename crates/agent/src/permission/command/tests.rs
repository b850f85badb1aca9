use super::*;

/// Formats the simple commands of a script: `<...>` around dynamic words, `?` in front of an unclear script.
fn read(text: &str) -> String {
    let script = Script::parse(text);
    let word = |word: &Word| if word.is_dynamic { format!("<{}>", word.text) } else { word.text.clone() };
    let commands: Vec<String> =
        script.commands.iter().map(|words| words.iter().map(word).collect::<Vec<_>>().join(" ")).collect();
    format!("{}{}", if script.is_unclear { "?" } else { "" }, commands.join(" · "))
}

#[test]
fn compound_lines_fall_into_simple_commands() {
    for (text, expected) in [
        ("cargo test", "cargo test"),
        ("a && b || c; d | e |& f & g", "a · b · c · d · e · f · g"),
        ("a\nb\n\n# comment ; x\nc", "a · b · c"),
        ("(cd x && a) ; b", "cd x · a · b"),
        ("a \\\n b", "a b"),
        ("echo a#b # c", "echo a#b"),
        ("", ""),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn quotes_are_removed_and_protect() {
    for (text, expected) in [
        ("echo 'a; b' \"c && d\"", "echo a; b c && d"),
        ("'ca'rgo te\"st\"", "cargo test"),
        ("echo \\; x \\\"", "echo ; x \""),
        ("echo \"a\\\"b\\n\" ''", "echo a\"b\\n "),
        ("echo '*' \"~\" '$(x)'", "echo * ~ $(x)"),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn substitutions_are_commands_too() {
    for (text, expected) in [
        ("echo $(rm x)", "rm x · echo <$>"),
        ("echo \"now: $(date -u)\"", "date -u · echo <now: $>"),
        ("echo `rm x`", "rm x · echo <`>"),
        ("echo `echo \\`rm x\\``", "rm x · echo <`> · echo <`>"),
        ("a $(b $(c))", "c · b <$> · a <$>"),
        ("echo $HOME ${X} *.rs ~/x a{b,c}", "echo <$HOME> <$> <*.rs> <~/x> <a{b,c}>"),
        ("echo $ 5$", "echo $ 5$"),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn harmless_redirections_are_ignored() {
    for text in ["a 2>&1", "a >/dev/null 2>&1", "a &> /dev/null", "a < /dev/null", "a 2>&-"] {
        assert_eq!(read(text), "a", "{text}");
    }
}

#[test]
fn unknown_constructs_are_unclear() {
    for text in [
        "a > file",
        "a >> file",
        "a >| file",
        "a &> file",
        "a >& file",
        "a < file",
        "a <> file",
        "a > $X",
        "a >",
        "cat <<EOF\nx\nEOF",
        "cat <<< x",
        "diff <(a) b",
        "tee >(a)",
        "$X y",
        "$(a) b",
        "~/bin/a",
        "./*.sh",
        "echo 'a",
        "echo \"a",
        "echo $(a",
        "echo `a",
        "echo a\\",
        "f() { rm x; }",
        "a=(b c)",
        "((x++))",
        "echo $((1))",
        "echo $[1]",
        "echo $'a'",
        "echo ${x:-$(rm y)}",
        "echo ${x:-`y`}",
        "echo ${x@P}",
        "case x in a) rm y;; esac",
        "function f { rm y; }; f",
        "env -iS 'rm x'",
        "echo $(case x in a) rm y;; esac)",
        "echo $(date # ')\n; rm x)",
        "echo $(cat <<E\n)\nE\n)",
        "echo `echo \\# ; rm x`",
        "echo `echo \\' ; rm x`",
        "eval $X",
        "bash -c $X",
        "sh -c \"$X\"",
    ] {
        assert!(Script::parse(text).is_unclear, "{text}: {}", read(text));
    }
}

#[test]
fn shells_in_shells_are_read() {
    assert_eq!(read("bash -c 'a; b'"), "a · b · bash -c a; b");
    assert_eq!(read("/bin/sh -ec 'rm x'"), "rm x · /bin/sh -ec rm x");
    assert_eq!(read("env X=1 bash -c 'rm x'"), "rm x · env X=1 bash -c rm x");
    assert_eq!(read("eval 'rm x'"), "rm x · eval rm x");
}

#[test]
fn deep_nests_end() {
    let text = format!("{}x{}", "echo $(".repeat(100), ")".repeat(100));
    assert!(Script::parse(&text).is_unclear);
    assert!(Script::parse(&"bash -c '".repeat(5_001)).is_unclear);
    assert!(Script::parse(&"eval ".repeat(500)).is_unclear);
}

#[test]
fn long_commands_end() {
    let many = "a ".repeat(100_000);
    assert_eq!(fits("rm *", &format!("sudo {many}")), Match::No);
    assert_eq!(fits("rm *", &format!("sudo {many} /bin/rm")), Match::Yes);
    assert_eq!(fits("rm", &format!("sudo rm {}", "$x ".repeat(100_000))), Match::Maybe);
    assert_eq!(fits("rm *", &format!("parallel {}", "'a b' ".repeat(20_000))), Match::No);
}

fn fits(pattern: &str, command: &str) -> Match {
    Script::parse(command).any_match(&Words::parse(pattern))
}

#[test]
fn restricting_patterns_match_behind_wrappers_paths_and_variables() {
    for command in [
        "rm -rf x",
        "/bin/rm x",
        "sudo rm x",
        "FOO=1 rm x",
        "env A=1 rm x",
        "xargs rm",
        "a && rm x",
        "timeout 5 rm x",
        "for f in *; do rm $f; done",
        "if rm x; then y; fi",
        "find . -exec rm {} +",
        "sh -c 'rm x'",
        "echo $(rm x)",
        "nohup nice rm x",
        "! rm x",
        "rm",
        "'r'm x",
        "\\rm x",
        "trap 'rm -rf x' EXIT",
        "watch 'cd y && rm x'",
        "ssh host 'rm x'",
        "sudo su -c 'rm x'",
        "X=1 watch 'rm;y'",
        "X=1 eval 'rm x'",
        "watch 'ssh host \"rm x\"'",
    ] {
        assert_eq!(fits("rm *", command), Match::Yes, "{command}");
    }
    for command in ["git rm x", "echo rm x", "rmdir x", "cargo test"] {
        assert_eq!(fits("rm *", command), Match::No, "{command}");
    }
    let unclear = ["$X -rf", "$(echo rm) x", "f() { x; }", "function f { rm x; }; f", "watch 'a' \"$X\""];
    for command in unclear {
        assert_eq!(fits("rm *", command), Match::Maybe, "{command}");
    }
    assert_eq!(fits("rm -rf *", "rm $X"), Match::Maybe, "a variable may hold anything");
}
