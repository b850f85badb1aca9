//! `permissions`: lists the rules for tool calls in this project, and revokes one.

use offshoot_agent::permission::{Decision, Rule};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::session_command::{Outcome, Work};
use crate::change::Change;
use crate::error::{CommandError, Failure};
use crate::settings::bad_rule;
use crate::setup::Setup;
use crate::trust;

/// List the rules for tool calls in this project, or revoke one.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Rules come from settings files, from the answers \"Always in this project\" and \"Always in all
projects\", and, in a conversation, from the answer \"Always\". Those of settings files are changed
there.

Example:
  offshoot permissions --revoke 'bash(cargo test *)'   ask about `cargo test` again
  offshoot permissions --revoke 'extension(web)'       ask about the tools of this extension again")]
pub(crate) struct Args {
    /// Revoke a listed rule that an answer has added.
    #[arg(long, value_name = "RULE", num_args = 1..)]
    revoke: Vec<String>,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let setup = Setup::read(work.app, trust::Args::default())?.0;
    let rules = listed(&setup, work)?;
    if args.revoke.is_empty() {
        return show(&rules);
    }
    let text = args.revoke.join(" ");
    let rule = Rule::parse(Decision::Allow, &text).map_err(|error| bad_rule(&error))?;
    let Some(found) = rules.iter().find(|listed| listed.rule == rule.to_string()) else {
        let failure = Failure::new(format!("there is no rule `{rule}`"));
        return Err(failure.hint("`offshoot permissions` lists the rules").into());
    };
    if !found.is_revocable {
        return Err(Failure::new(format!("the rule `{rule}` is in {}", found.from))
            .hint("edit this file")
            .into());
    }
    if !work.dry_run {
        setup.project_rules().remove(&rule)?;
        setup.user_rules().remove(&rule)?;
        work.agent.revoke(&rule);
    }
    let change = Change::new("revoked", "revoke", format!("the rule `{rule}`"));
    change.json(Revoked { rule: rule.to_string() })
}

/// The JSON of the list.
#[derive(Serialize, JsonSchema)]
pub(super) struct Shown<'r> {
    rules: &'r [Listed],
}

/// The JSON of a rule that is revoked.
#[derive(Serialize, JsonSchema)]
pub(super) struct Revoked {
    rule: String,
}

/// A rule and its origin.
#[derive(Serialize, JsonSchema)]
struct Listed {
    #[serde(serialize_with = "decision_name")]
    #[schemars(with = "String")]
    decision: Decision,
    rule: String,
    /// The settings file, `this project`, `all projects` or `until you leave`.
    from: String,
    /// True for a rule that an answer has added.
    #[serde(skip)]
    is_revocable: bool,
}

fn decision_name<S: Serializer>(decision: &Decision, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(decision)
}

/// Returns the rules of settings files, of this project and of this conversation.
fn listed(setup: &Setup, work: &Work<'_>) -> Result<Vec<Listed>, CommandError> {
    let own = setup.settings.rules().map(|(decision, rule, file)| Listed {
        decision,
        rule: rule.to_owned(),
        from: file.display().to_string(),
        is_revocable: false,
    });
    let answer = |from: &str| {
        let from = from.to_owned();
        move |rule| Listed { decision: Decision::Allow, rule, from: from.clone(), is_revocable: true }
    };
    let mut rules: Vec<Listed> = own.collect();
    rules.extend(setup.project_rules().list()?.into_iter().map(answer("this project")));
    rules.extend(setup.user_rules().list()?.into_iter().map(answer("all projects")));
    let known = |rules: &[Listed], rule: &Rule| {
        rules.iter().any(|listed| listed.rule == rule.to_string() && listed.decision == rule.decision())
    };
    for rule in work.agent.rules() {
        if !known(&rules, &rule) && rule.decision() == Decision::Allow {
            rules.push(answer("until you leave")(rule.to_string()));
        }
    }
    Ok(rules)
}

fn show(rules: &[Listed]) -> Result<Change, CommandError> {
    let width = rules.iter().map(|listed| listed.rule.chars().count()).max().unwrap_or(0);
    let line = |listed: &Listed| {
        let decision = listed.decision.to_string();
        format!("{decision:<5}  {:<width$}  {}", listed.rule, listed.from)
    };
    let text = rules.iter().map(line).collect::<Vec<_>>().join("\n");
    let change = match rules.is_empty() {
        true => Change::shown("there are no rules; reading inside the working directory is allowed"),
        false => Change::shown(text.clone()).gives(text),
    };
    change.json(Shown { rules })
}
