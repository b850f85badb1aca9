use super::*;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo it.\n")
}

fn load(root: &Path) -> Resources {
    let mut resources = Resources::default();
    resources.add_skills_at(root);
    resources
}

fn names(resources: &Resources) -> Vec<&str> {
    resources.skills().iter().map(|skill| skill.name.as_str()).collect()
}

#[test]
fn a_directory_with_a_skill_file_is_one_skill_and_is_not_searched_further() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path();
    write(&root.join("b/SKILL.md"), &skill("b"));
    write(&root.join("b/inner/SKILL.md"), &skill("inner"));
    write(&root.join("group/a/SKILL.md"), &skill("a"));
    write(&root.join("loose.md"), &skill("loose"));
    write(&root.join("README.md"), "Nothing to see.");
    write(&root.join("group/nested.md"), &skill("nested"));
    write(&root.join("node_modules/x/SKILL.md"), &skill("x"));
    write(&root.join(".hidden/SKILL.md"), &skill("hidden"));
    write(&root.join("ignored/SKILL.md"), &skill("ignored"));
    write(&root.join(".gitignore"), "ignored/\n");
    let resources = load(root);
    assert_eq!(names(&resources), ["b", "a", "loose"]);
    assert_eq!(resources.warnings(), [] as [String; 0]);
    let mut warnings = Vec::new();
    let found = skill_files(root, LooseFiles::Nested, &mut warnings);
    let found: Vec<_> = found.iter().map(|path| path.strip_prefix(root).unwrap().to_str().unwrap()).collect();
    assert_eq!(found, ["b/SKILL.md", "group/a/SKILL.md", "group/nested.md"]);
}

#[test]
fn damaged_skills_are_reported_one_by_one() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path();
    write(&root.join("a/SKILL.md"), "---\ndescription: a: b\n---\n");
    write(&root.join("b/SKILL.md"), "---\nname: b\n---\nno description");
    write(&root.join("c/SKILL.md"), &format!("---\ndescription: c\n---\n{}", "x".repeat(1 << 20)));
    write(&root.join("d/SKILL.md"), &skill("Not_Good"));
    write(&root.join("e/SKILL.md"), &skill("same"));
    write(&root.join("f/SKILL.md"), &skill("same"));
    write(&root.join("g/SKILL.md"), &format!("---\ndescription: {}\n---\n", "x".repeat(1025)));
    std::os::unix::fs::symlink(root, root.join("h")).unwrap();
    std::os::unix::fs::symlink(root.join("e"), root.join("i")).unwrap();
    std::os::unix::fs::symlink(root.join("gone"), root.join("j")).unwrap();
    let resources = load(root);
    assert_eq!(names(&resources), ["Not_Good", "same", "g"]);
    let reasons = resources.warnings().join("\n").replace(&root.display().to_string(), "ROOT");
    for expected in [
        "skill ROOT/a/SKILL.md: line 2: ",
        "skill ROOT/b/SKILL.md: it has no description; it is not loaded",
        "skill ROOT/c/SKILL.md: it is longer than 1 MiB; it is not loaded",
        "skill ROOT/d/SKILL.md: the name `Not_Good` has other characters",
        "skill ROOT/f/SKILL.md is not loaded: ROOT/e/SKILL.md has the same name, `same`",
        "skill ROOT/g/SKILL.md: the description has more than 1024 characters",
        "loop",
    ] {
        assert!(reasons.contains(expected), "{expected}\n{reasons}");
    }
}

/// The form is that of pi 1.5.0, byte for byte.
#[test]
fn the_model_is_told_about_skills_in_xml() {
    let skill = |name: &str, is_hidden| Skill {
        name: name.into(),
        description: "Reads <a> & \"b\", it's.".into(),
        path: "/skills/a&b/SKILL.md".into(),
        is_hidden,
    };
    let text = skills_text(&[skill("a", false), skill("b", true)]);
    let list = &text[text.find("<available_skills>").unwrap()..];
    assert_eq!(
        list,
        "<available_skills>\n  <skill>\n    <name>a</name>\n    <description>Reads &lt;a&gt; &amp; &quot;b&quot;, \
         it&apos;s.</description>\n    <location>/skills/a&amp;b/SKILL.md</location>\n  </skill>\n</available_skills>"
    );
    assert_eq!(skills_text(&[skill("b", true)]), "");
}

#[test]
fn commands_are_expanded_and_other_lines_are_not() {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join("s/SKILL.md"), &skill("s"));
    write(&home.path().join("fix.md"), "Fix $1 in ${2:-all files}.");
    let mut resources = load(&home.path().join("s"));
    resources.add_templates_at(home.path());
    let expand = |line: &str| resources.expand(line).map(Result::unwrap);
    let directory = home.path().join("s").display().to_string();
    assert_eq!(
        expand("/skill:s  now ").unwrap(),
        format!(
            "<skill name=\"s\" location=\"{directory}/SKILL.md\">\nReferences are relative to {directory}.\n\nDo it.\n\
             </skill>\n\nnow"
        )
    );
    assert!(expand("/skill:s").unwrap().ends_with("</skill>"));
    assert_eq!(expand("/fix 'the bug'").unwrap(), "Fix the bug in all files.");
    assert_eq!(expand("/fix\na\nb").unwrap(), "Fix a in b.");
    for line in ["/skill:gone", "/fixes", " /fix a", "fix a", "/", "/skill:"] {
        assert_eq!(expand(line), None, "{line}");
        assert!(!resources.has_command(line));
    }
    fs::remove_file(home.path().join("s/SKILL.md")).unwrap();
    assert!(resources.expand("/skill:s").unwrap().unwrap_err().contains("SKILL.md"));
}
