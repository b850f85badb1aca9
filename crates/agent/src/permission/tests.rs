use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// Parses rules such as `allow read`, one per line.
fn permissions(mode: Mode, rules: &str) -> Permissions {
    let mut permissions = Permissions::new(mode);
    for line in rules.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (decision, rule) = line.split_once(' ').unwrap();
        let decision = match decision {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            "deny" => Decision::Deny,
            other => panic!("{other}"),
        };
        permissions.rules.push(Rule::parse(decision, rule).unwrap());
    }
    permissions
}

struct Project {
    dir: tempfile::TempDir,
    permissions: Permissions,
}

/// A project with files and links that lead out of it:
///
/// ```text
///   project/src/lib.rs   project/.env   project/secret/key   project/out -> ../other   project/link -> ../other/file
///   other/file
/// ```
fn project(rules: &str) -> Project {
    let dir = tempfile::tempdir().unwrap();
    for path in ["project/src/lib.rs", "project/.env", "project/secret/key", "other/file", "other/.env"] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    symlink("../other", dir.path().join("project/out")).unwrap();
    symlink("../other/file", dir.path().join("project/link")).unwrap();
    Project { dir, permissions: permissions(Mode::AskFor, rules) }
}

impl Project {
    fn judge(&self, tool: &str, effect: &Effect) -> Verdict {
        self.permissions.judge(tool, effect, &self.dir.path().join("project"))
    }

    fn read(&self, path: &str) -> Decision {
        self.judge("read", &Effect::Reads(vec![path.into()])).decision
    }

    fn grep(&self, path: &str) -> Decision {
        self.judge("grep", &Effect::Reads(vec![path.into()])).decision
    }

    fn edit(&self, path: &str) -> Decision {
        self.judge("edit", &Effect::Writes(vec![path.into()])).decision
    }

    fn run(&self, command: &str) -> Decision {
        self.judge("bash", &Effect::Runs(command.into())).decision
    }
}

use Decision::{Allow, Ask, Deny};

#[test]
fn without_rules_only_reading_inside_is_allowed() {
    let project = project("");
    assert_eq!(
        [project.read("src/lib.rs"), project.read("."), project.read("none/yet"), project.grep("src")],
        [Allow; 4]
    );
    assert_eq!([project.read("/etc/passwd"), project.read("../other/file"), project.read("~/x")], [Ask; 3]);
    assert_eq!([project.edit("src/lib.rs"), project.edit("new"), project.run("true")], [Ask; 3]);
    assert_eq!(project.judge("magic", &Effect::Other("it does magic".into())).decision, Ask);
}

#[test]
fn links_and_dots_do_not_make_outside_inside() {
    let project = project("");
    assert_eq!(
        [project.read("link"), project.read("out/file"), project.read("out"), project.read("out/new")],
        [Ask; 4]
    );
    assert_eq!([project.read("src/../../other/file"), project.read("out/../project/x")], [Ask, Allow]);
    let several = Effect::Reads(vec!["src/lib.rs".into(), "link".into()]);
    let real = project.dir.path().canonicalize().unwrap().join("other/file");
    let expected = Verdict { decision: Ask, reason: Reason::ReadsOutside(real) };
    assert_eq!(project.judge("read", &several), expected, "one path outside is enough");
}

#[test]
fn a_working_directory_behind_a_link_is_the_same_place() {
    let project = project("allow write(src/**)");
    symlink("project", project.dir.path().join("alias")).unwrap();
    let alias = project.dir.path().join("alias");
    for path in [PathBuf::from("src/lib.rs"), project.dir.path().join("project/src/lib.rs")] {
        assert_eq!(
            project.permissions.judge("read", &Effect::Reads(vec![path.clone()]), &alias).decision,
            Allow
        );
        assert_eq!(project.permissions.judge("write", &Effect::Writes(vec![path]), &alias).decision, Allow);
    }
}

#[test]
fn deny_beats_ask_beats_allow_in_any_order() {
    let mut rules = ["allow write(src/**)", "ask write(src/gen/**)", "deny write(src/gen/keep.rs)"];
    for _ in 0..2 {
        let project = project(&rules.join("\n"));
        assert_eq!(
            ["src/a.rs", "src/gen/a.rs", "src/gen/keep.rs"].map(|path| project.edit(path)),
            [Allow, Ask, Deny]
        );
        rules.reverse();
    }
}

#[test]
fn read_and_write_stand_for_every_tool_that_does_so() {
    let project = project("deny read(secret/**)\ndeny write(secret/**)\nallow edit(src/**)");
    assert_eq!([project.read("secret/key"), project.grep("secret"), project.edit("secret/key")], [Deny; 3]);
    assert_eq!(project.edit("src/lib.rs"), Allow);
    assert_eq!(
        project.judge("write", &Effect::Writes(vec!["src/lib.rs".into()])).decision,
        Ask,
        "edit is only edit"
    );
}

#[test]
fn a_rule_for_an_extension_allows_all_its_tools_and_those_of_no_other() {
    let decided = |rules: &str, extension: &str| {
        let (tool, extension) = ("look".to_owned(), extension.to_owned());
        project(rules).judge("look", &Effect::Extension { tool, extension }).decision
    };
    assert_eq!(decided("", "web"), Ask);
    assert_eq!(
        ["web", "web2", "./web", "w"].map(|name| decided("allow extension(web)", name)),
        [Allow, Ask, Ask, Ask]
    );
    assert_eq!(["web", "./web"].map(|name| decided("allow extension(./web)", name)), [Ask, Allow]);
    assert_eq!(["web", "./web"].map(|name| decided("allow extension", name)), [Allow; 2]);
    assert_eq!(decided("allow look", "web"), Allow);
    assert_eq!(decided("allow extension(web)\ndeny look", "web"), Deny);
    assert_eq!(decided("allow look\ndeny extension(web)", "web"), Deny);
}

#[test]
fn a_search_that_may_include_denied_files_asks() {
    let project = project("deny read(secret/**)");
    assert_eq!([project.grep("."), project.grep("src"), project.grep("secret/..")], [Ask, Allow, Ask]);
    let names = self::project("deny read(.env)");
    assert_eq!([names.grep("src"), names.read("src/lib.rs")], [Ask, Allow]);
    let rule = Rule::parse(Deny, "read(.env)").unwrap();
    let verdict = names.judge("grep", &Effect::Reads(vec!["src".into()]));
    assert_eq!(verdict.reason, Reason::MayConcern(rule));
}

#[test]
fn names_are_denied_anywhere_but_allowed_only_inside() {
    let denied = project("deny read(.env)");
    assert_eq!([denied.read(".env"), denied.read("out/.env"), denied.read("../other/.env")], [Deny; 3]);
    let allowed = project("allow write(file)");
    assert_eq!(
        [allowed.edit("src/file"), allowed.edit("../other/file"), allowed.edit("out/file")],
        [Allow, Ask, Ask]
    );
}

#[test]
fn allowing_rules_use_the_real_path_and_denying_rules_both_paths() {
    let allowed = project("allow write(link)\nallow write(out/**)");
    assert_eq!([allowed.edit("link"), allowed.edit("out/x")], [Ask; 2]);
    let denied = project("deny write(link)\ndeny write(out/**)");
    assert_eq!([denied.edit("link"), denied.edit("out/x"), denied.edit("../other/x")], [Deny, Deny, Ask]);
}

#[test]
fn absolute_patterns_reach_outside() {
    let project = project("");
    let other = project.dir.path().canonicalize().unwrap().join("other");
    let rules = format!("allow read({}/**)\nallow write({0}/file)", other.display());
    let project = Project { permissions: permissions(Mode::AskFor, &rules), ..project };
    assert_eq!([project.read("../other/file"), project.read("out"), project.edit("link")], [Allow; 3]);
    assert_eq!(project.edit("out/more"), Ask);
}

#[test]
fn patterns_lead_out_of_the_working_directory_with_dots() {
    let denied =
        project("deny read(../other/**)\ndeny write(src/../../other/fi*)\ndeny write(./secret/../.env)");
    assert_eq!([denied.read("../other/file"), denied.read("out/file"), denied.read("../other")], [Deny; 3]);
    assert_eq!([denied.edit("../other/file"), denied.edit("link"), denied.edit(".env")], [Deny; 3]);
    assert_eq!([denied.read("src/lib.rs"), denied.edit("secret/.env"), denied.grep("..")], [Allow, Ask, Ask]);
    let allowed = project(
        "allow read(../other/**)\nallow write(../project/src/**)\nallow read(../../../../../../../../x)",
    );
    assert_eq!([allowed.read("../other/file"), allowed.read("/x"), allowed.edit("src/lib.rs")], [Allow; 3]);
    assert_eq!([allowed.read("../more"), allowed.edit("../other/file")], [Ask; 2]);
}

#[test]
fn links_in_a_circle_are_denied() {
    let project = project("allow *");
    symlink("loop", project.dir.path().join("project/loop")).unwrap();
    assert_eq!(project.read("loop/x"), Deny);
}

#[test]
fn commands_are_allowed_only_if_every_part_is() {
    let project = project("allow bash(cargo *)\nallow bash(git status)\nallow bash(echo *)");
    for command in [
        "cargo test",
        "cargo",
        "cargo test && git status",
        "cargo build 2>&1 | cargo x",
        "echo $(git status)",
        "echo 'a; rm x'",
        "cargo test -- $X *.rs",
    ] {
        assert_eq!(project.run(command), Allow, "{command}");
    }
    for command in [
        "cargo test && rm x",
        "cargo test; rm x",
        "cargo test | sh",
        "cargo test\nrm x",
        "cargo test & rm x",
        "echo $(rm x)",
        "echo `rm x`",
        "echo \"$(rm x)\"",
        "cargo test > out",
        "git status -s",
        "git $X",
        "FOO=1 cargo test",
        "cargotest",
        "./cargo test",
        "echo <(rm x)",
        "echo 'a",
        "",
        "bash -c 'cargo test'",
    ] {
        assert_eq!(project.run(command), Ask, "{command}");
    }
}

/// Each way in which a shell runs more than the words of one command.
#[test]
fn a_command_that_is_not_simple_matches_no_rule_that_allows() {
    let project =
        project("allow bash(cargo *)\nallow bash(echo *)\nallow bash(printf *)\nallow bash(export *)");
    for (trick, command) in [
        ("sequence", "cargo test; rm x"),
        ("sequence", ";rm x"),
        ("and", "cargo test && rm x"),
        ("or", "cargo test || rm x"),
        ("pipe", "cargo test | sh"),
        ("pipe of errors", "cargo test |& sh"),
        ("background", "cargo test & rm x"),
        ("newline", "cargo test\nrm x"),
        ("carriage return and newline", "cargo test\r\nrm x"),
        ("newline after a continuation", "cargo test \\\n; rm x"),
        ("substitution", "cargo $(rm x)"),
        ("substitution in quotes", "echo \"$(rm x)\""),
        ("substitution in a substitution", "echo $(echo $(rm x))"),
        ("substitution in a parameter", "echo ${x:-$(rm x)}"),
        ("substitution in a subscript", "echo ${a[$(rm x)]}"),
        ("subscript that a builtin evaluates", "printf -v 'a[$(rm x)]' y"),
        ("subscript that a builtin evaluates", "export 'a[`rm x`]=1'"),
        ("backquotes", "echo `rm x`"),
        ("backquotes in quotes", "echo \"`rm x`\""),
        ("arithmetic", "echo $((a[$(rm x)]))"),
        ("old arithmetic", "echo $[x]"),
        ("process substitution", "cargo test <(rm x)"),
        ("process substitution", "cargo test >(rm x)"),
        ("redirection", "cargo test > x"),
        ("redirection", "cargo test >> x"),
        ("redirection", "cargo test 2> x"),
        ("redirection", "cargo test &> x"),
        ("redirection", "cargo test >| x"),
        ("redirection", "> x cargo test"),
        ("redirection of input", "cargo test < x"),
        ("redirection to a variable", "cargo test > $X"),
        ("here-document", "cargo test <<E\nx\nE\nrm x"),
        ("here-string", "cargo test <<< x"),
        ("environment prefix", "PATH=. cargo test"),
        ("environment prefix", "A+=1 cargo test"),
        ("assignment", "cargo=rm"),
        ("array", "cargo=(rm x)"),
        ("env", "env cargo test"),
        ("eval", "eval 'cargo test'"),
        ("exec", "exec cargo test"),
        ("another shell", "bash -c 'cargo test'"),
        ("wrapper", "sudo cargo test"),
        ("wrapper", "xargs cargo"),
        ("source", ". cargo"),
        ("negation", "! cargo test"),
        ("time", "time cargo test"),
        ("function", "cargo() { rm x; }; cargo test"),
        ("function", "function cargo { rm x; }; cargo test"),
        ("group", "{ cargo test; }"),
        ("loop", "for x in y; do cargo test; done"),
        ("condition", "if cargo test; then rm x; fi"),
        ("case", "case x in cargo) rm x;; esac"),
        ("condition in brackets", "[[ a ]] && cargo test"),
        ("coprocess", "coproc cargo test"),
        ("program in a variable", "$X test"),
        ("program by glob", "carg? test"),
        ("program by brace", "{rm,x} test"),
        ("program by brace", "cargo{,} test"),
        ("program with a path", "./cargo test"),
        ("program in the home directory", "~/cargo test"),
        ("quotes that join", "c'ar'go\"test\" x"),
        ("quotes that do not end", "cargo 'test"),
        ("quotes that do not end", "cargo \"test"),
        ("escapes in quotes", "cargo $'a\\nb'"),
        ("backslash at the end", "cargo test\\"),
        ("pattern of alternatives", "cargo @(a|b)"),
        ("comment that hides an end", "echo $(echo # )\nrm x)"),
        ("nothing", ""),
    ] {
        assert_eq!(project.run(command), Ask, "{trick}: {command}");
    }
}

#[test]
fn quotes_comments_and_arguments_that_expand_stay_parts_of_a_simple_command() {
    let project = project("allow bash(cargo *)\nallow bash(echo *)");
    for (trick, command) in [
        ("quotes", "'cargo' \"test\" 'a; rm x' \"&& rm x\""),
        ("escapes", "c\\argo test \\; rm x \\| sh"),
        ("harmless redirection", "cargo test >/dev/null 2>&1"),
        ("arguments by glob, brace and variable", "cargo test *.rs {a,b} ~/x $X"),
        ("comment", "cargo test # ; rm x"),
        ("every part is allowed", "cargo test && echo $(cargo version) | cargo x & echo y"),
    ] {
        assert_eq!(project.run(command), Allow, "{trick}: {command}");
    }
}

#[test]
fn commands_that_are_denied_are_found_in_any_part() {
    let project = project("allow bash\ndeny bash(rm *)\nask bash(git push *)");
    assert_eq!(
        [project.run("ls"), project.run("cargo test > out"), project.run("git pull")],
        [Allow, Ask, Allow]
    );
    assert_eq!(
        [project.run("a && rm x"), project.run("sudo rm x"), project.run("git push; rm x")],
        [Deny; 3]
    );
    assert_eq!([project.run("git push"), project.run("cd x && git push -f"), project.run("$X y")], [Ask; 3]);
    let free = self::project("allow bash(*)");
    assert_eq!([free.run("$X y > z"), free.run("f() { :; }")], [Allow; 2]);
}

#[test]
fn modes_decide_about_calls_that_need_approval() {
    for (mode, asked, denied) in
        [(Mode::AskFor, Ask, Deny), (Mode::AllowAll, Allow, Deny), (Mode::DenyAsking, Deny, Deny)]
    {
        let permissions = permissions(mode, "deny bash(rm *)\nallow bash(ls *)");
        let run =
            |command: &str| permissions.judge("bash", &Effect::Runs(command.into()), Path::new("/")).decision;
        assert_eq!([run("make"), run("rm x"), run("ls")], [asked, denied, Allow]);
    }
}

#[test]
fn verdicts_have_reasons() {
    let reason = |mode, rules, command: &str| {
        permissions(mode, rules)
            .judge("bash", &Effect::Runs(command.into()), Path::new("/"))
            .reason
            .to_string()
    };
    assert_eq!(reason(Mode::AskFor, "", "make"), "it runs `make`");
    assert_eq!(reason(Mode::DenyAsking, "", "make"), "there is no user to ask (it runs `make`)");
    assert_eq!(reason(Mode::AllowAll, "", "make"), "everything is allowed (it runs `make`)");
    assert_eq!(reason(Mode::AskFor, "allow bash(a)\nallow bash(b *)", "b x; a"), "the rule `bash(b *)`");
    assert_eq!(reason(Mode::AskFor, "deny bash(rm *)", "rm x"), "the rule `bash(rm *)`");
    assert_eq!(
        reason(Mode::AskFor, "deny bash(rm *)", "$X"),
        "the rule `bash(rm *)` may concern a part of it"
    );
}

#[test]
fn rules_are_read_and_written() {
    for text in ["read", "bash(cargo *)", "write(src/**)", "*", "mcp:server.tool(x y)"] {
        assert_eq!(Rule::parse(Allow, text).unwrap().to_string(), text);
    }
    assert_eq!(Rule::parse(Ask, " bash( * ) ").unwrap().to_string(), "bash");
    for bad in ["", "()", "bash(", "bash(x", "bash()", "(x)", "a b"] {
        assert_eq!(Rule::parse(Allow, bad), Err(RuleError::Shape { rule: bad.into() }), "{bad}");
    }
    assert!(matches!(Rule::parse(Allow, "read([)"), Err(RuleError::Glob { .. })));
    assert!(Permissions::parse(Mode::AskFor, [(Allow, "read"), (Deny, "bash(")]).is_err());
}

#[test]
fn the_output_of_an_earlier_command_may_be_read() {
    let project = project("");
    let kept = crate::tools::new_output_file().unwrap();
    // Outside the private directory another user may have created it.
    let other = tempfile::Builder::new().prefix("offshoot-bash-").suffix(".log").tempfile().unwrap();
    let read = |path: &Path| project.read(path.to_str().unwrap());
    assert_eq!([read(kept.path()), read(other.path())], [Allow, Ask]);
    let link = project.dir.path().join("project/offshoot-bash-x.log");
    symlink("/etc/passwd", &link).unwrap();
    assert_eq!(read(&link), Ask, "a name alone does not help");
}

#[test]
fn after_foreign_text_allowed_calls_ask() {
    let effect = Effect::Runs("cargo test".into());
    let judged = |mode, rules: &str, provenance| {
        let permissions = permissions(mode, rules);
        permissions.with_provenance(provenance, permissions.judge("bash", &effect, Path::new("/w"))).decision
    };
    let strange = Some(ProvenanceWarning::Imported);
    assert_eq!(judged(Mode::AskFor, "allow bash", None), Decision::Allow);
    assert_eq!(judged(Mode::AskFor, "allow bash", strange), Decision::Ask);
    assert_eq!(judged(Mode::AskFor, "deny bash", strange), Decision::Deny);
    assert_eq!(judged(Mode::AllowAll, "allow bash", strange), Decision::Allow);
    assert_eq!(judged(Mode::DenyAsking, "allow bash", strange), Decision::Allow);
}

#[test]
fn writing_into_a_git_directory_is_asked_about_unless_a_rule_names_it() {
    let project = project("allow write(./**)\nallow edit");
    assert_eq!([project.edit("src/lib.rs"), project.edit(".git/hooks/pre-commit")], [Allow, Ask]);
    assert_eq!(project.edit("vendor/x/.git/config"), Ask);
    let named = self::project("allow write(.git/info/*)");
    assert_eq!([named.edit(".git/info/exclude"), named.edit(".git/hooks/x")], [Allow, Ask]);
}

#[test]
fn a_star_at_the_end_of_a_name_stands_for_all_tools_that_begin_so() {
    let judged = |rules: &str, tool: &str| {
        let effect = Effect::Other(format!("it calls `{tool}`"));
        permissions(Mode::AskFor, rules).judge(tool, &effect, Path::new("/")).decision
    };
    let rules = "allow mcp__git__*\ndeny mcp__git__delete_*";
    assert_eq!(judged(rules, "mcp__git__log"), Decision::Allow);
    assert_eq!(judged(rules, "mcp__git__delete_branch"), Decision::Deny);
    assert_eq!(judged(rules, "mcp__github__log"), Decision::Ask);
    assert_eq!(judged(rules, "bash"), Decision::Ask);
    assert_eq!(judged("allow mcp__git__log", "mcp__git__log_all"), Decision::Ask);
}
