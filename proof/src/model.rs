//! Sequences of commands, done to a session and to a model that is too simple to be wrong.
//!
//! The model is a list of entries, a leaf, labels and a name. After every step the session has to show the same as the
//! model; at the end, the same holds for a process that opens the file after a kill. Ids are drawn from ten bits, so that
//! collisions are normal.

mod branching;
mod expected;

use std::sync::Arc;

use serde_json::json;
use session_tree::{
    Draft, EntryId, KeepFrom, NewBranchSummary, NewCompaction, Options, Position, Result as EngineResult,
    Session, SyncPolicy, Timestamp,
};
use testkit::clock::TickingClock;
use testkit::crash::workload::{assistant, user};
use testkit::ids::NarrowIds;
use testkit::rng::Rng;
use testkit::sim_fs::SimFs;

use crate::attempt::sum_over;
use crate::part::{Done, Outcome, Plan};
use expected::{Kind, Model};

const PATH: &str = "/sessions/s.jsonl";

/// Runs many sequences.
pub fn run(plan: &Plan) -> Outcome {
    let runs = plan.runs(2_000, 200_000);
    let steps = sum_over(runs, |number| sequence(plan.seed, number))?;
    Ok(Done::new(runs, format!("sequences with {steps} steps, compared with a model")))
}

/// Runs one sequence of up to 60 steps; gives their number.
pub fn sequence(seed: u64, number: u64) -> Result<u64, String> {
    play(seed, number).map(|(_, steps)| steps)
}

/// Runs one sequence; gives the file that it wrote, if it wrote one.
pub fn written(seed: u64, number: u64) -> Result<Option<Vec<u8>>, String> {
    play(seed, number).map(|(machine, _)| machine.fs.bytes(PATH))
}

fn play(seed: u64, number: u64) -> Result<(Machine, u64), String> {
    let mut rng = Rng::new(seed.wrapping_mul(1_000_033).wrapping_add(number));
    let mut machine = Machine::new(&mut rng);
    let steps = rng.range(5, 60);
    for step in 0..steps {
        let done =
            machine.step(&mut rng).map_err(|error| format!("sequence {number}, step {step}: {error}"))?;
        let compared = machine.compare();
        compared.map_err(|reason| format!("sequence {number}, step {step}, after {done}: {reason}"))?;
    }
    machine.look_again().map_err(|reason| format!("sequence {number}, at its end: {reason}"))?;
    Ok((machine, steps))
}

/// The session, its disk and the model.
struct Machine {
    fs: SimFs,
    session: Session,
    model: Model,
    opened: u64,
    seed: u64,
    /// Another program wrote, and the session has not looked since.
    is_behind: bool,
}

impl Machine {
    fn new(rng: &mut Rng) -> Self {
        let fs = SimFs::new();
        fs.put_dir("/sessions").expect("an empty disk takes a directory");
        let seed = rng.next_u64();
        let session = options(&fs, seed).create(PATH, "/w").expect("an empty disk takes a session");
        Self { fs, session, model: Model::default(), opened: 0, seed, is_behind: false }
    }

    fn options(&mut self) -> Options {
        self.opened += 1;
        options(&self.fs, self.seed.wrapping_add(self.opened))
    }

    /// Does one step to both; says what it was.
    fn step(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        match rng.below(27) {
            0..4 => self.appended("a prompt", Kind::Prompt, |session| session.append_message(&user("p"))),
            4..7 => {
                self.appended("an answer", Kind::Message, |session| session.append_message(&assistant("a")))
            }
            7 => self.appended("a custom entry", Kind::Other, |session| {
                session.append_custom_entry("x", Some(&json!(1)))
            }),
            8 => self.appended("a note", Kind::Prompt, |session| {
                session.append_custom_message("n", &json!("note"), true, None)
            }),
            9 => self.appended("a model", Kind::Other, |session| session.append_model_change("p", "m")),
            10 => self.name(rng),
            11 => self.label(rng),
            12 => self.compaction(rng),
            13 => self.summary(rng),
            14 => self.batch(rng),
            15 | 16 => self.go(rng),
            17 => self.mark(),
            18 => self.reopen(),
            19 => self.killed(),
            20 | 21 => self.select(rng),
            22 | 23 => self.pick(rng),
            24 => self.merge(rng),
            25 => self.fork(),
            _ => self.other_writer(),
        }
    }

    /// An entry that the session knows; what another program wrote a moment ago may not be among them.
    fn known(&self, rng: &mut Rng) -> Option<String> {
        self.model.any(rng).filter(|id| self.session.node(id).is_ok())
    }

    fn appended(
        &mut self,
        what: &'static str,
        kind: Kind,
        append: impl FnOnce(&mut Session) -> EngineResult<EntryId>,
    ) -> EngineResult<&'static str> {
        let id = append(&mut self.session)?;
        self.model.append(id.as_str(), kind);
        self.is_behind = false;
        Ok(what)
    }

    fn name(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        let name = format!("name {}", rng.below(3));
        self.appended("a name", Kind::Name(name.clone()), |session| session.append_session_info(&name))
    }

    fn label(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        let Some(target) = self.known(rng) else { return Ok("nothing") };
        let text = (rng.below(4) > 0).then(|| format!("label {}", rng.below(5)));
        let kind = Kind::Label { target: target.clone(), text: text.clone() };
        self.appended("a label", kind, |session| session.append_label_change(&target, text.as_deref()))
    }

    fn compaction(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        let path = self.model.path();
        let kept = if path.is_empty() || rng.below(4) == 0 { None } else { Some(rng.pick(&path).clone()) };
        let keep = kept.clone().map_or(KeepFrom::Nothing, |id| KeepFrom::Entry(id.into()));
        let new = NewCompaction {
            summary: "so far".into(),
            keep,
            tokens_before: 9,
            details: None,
            usage: None,
            from_hook: false,
        };
        self.appended("a compaction", Kind::Compaction { kept }, |session| session.append_compaction(&new))
    }

    fn summary(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        let target = if rng.below(6) == 0 { None } else { self.known(rng) };
        let new = NewBranchSummary { summary: "left behind".into(), ..NewBranchSummary::default() };
        self.model.leaf.clone_from(&target);
        self.appended("a summary", Kind::Summary, |session| {
            session.branch_with_summary(Position::entry_or_start(target), new)
        })
    }

    fn batch(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        let drafts: EngineResult<Vec<Draft>> =
            (0..rng.range(1, 4)).map(|_| Draft::message(&user("b"))).collect();
        for id in self.session.append_batch(&drafts?)? {
            self.model.append(id.as_str(), Kind::Prompt);
        }
        self.is_behind = false;
        Ok("a batch")
    }

    fn go(&mut self, rng: &mut Rng) -> EngineResult<&'static str> {
        match self.known(rng).filter(|_| rng.below(8) > 0) {
            Some(target) => {
                self.session.branch(&target)?;
                self.model.leaf = Some(target);
            }
            None => {
                self.session.reset_leaf();
                self.model.leaf = None;
            }
        }
        Ok("a move")
    }

    fn mark(&mut self) -> EngineResult<&'static str> {
        let leaf = self.model.leaf.clone();
        // A session that has not looked yet does not know that its position is no longer the last one.
        if self.is_behind {
            return Ok("nothing");
        }
        if let Some(id) = self.session.mark_leaf()? {
            self.model.append(id.as_str(), Kind::Marker { target: leaf.clone() });
            self.model.leaf = leaf;
        }
        Ok("a mark")
    }

    fn reopen(&mut self) -> EngineResult<&'static str> {
        if self.session.is_saved() {
            self.session = self.options().open(PATH)?;
            self.model.leaf = self.model.leaf_of_file();
            self.is_behind = false;
        }
        Ok("opening again")
    }

    /// Drops the session as a kill does, and opens the file again.
    fn killed(&mut self) -> EngineResult<&'static str> {
        self.fs = self.fs.killed();
        if self.session.is_saved() {
            return self.reopen().map(|_| "a kill");
        }
        // Nothing was said yet, so there is no file.
        self.session = self.options().create(PATH, "/w")?;
        self.model = Model::default();
        Ok("a kill")
    }

    fn other_writer(&mut self) -> EngineResult<&'static str> {
        if !self.session.is_saved() {
            return Ok("nothing");
        }
        let mut other = self.options().open(PATH)?;
        let above = other.leaf_id().map(|id| id.to_string());
        let id = other.append_message(&user("from elsewhere"))?;
        self.model.append_under(above, id.as_str(), Kind::Prompt);
        self.is_behind = true;
        Ok("another writer")
    }

    fn compare(&self) -> Result<(), String> {
        if self.is_behind {
            return self.model.compare_leaf(&self.session);
        }
        self.model.compare(&self.session)
    }

    /// Opens the file as a new process does.
    fn look_again(&mut self) -> Result<(), String> {
        if !self.session.is_saved() {
            return Ok(());
        }
        let disk = self.fs.killed();
        let found =
            options(&disk, 0).open_read_only(PATH).map_err(|error| format!("cannot open: {error}"))?;
        self.model.leaf = self.model.leaf_of_file();
        self.model.compare(&found)
    }
}

fn options(fs: &SimFs, seed: u64) -> Options {
    Options::new()
        .file_system(Arc::new(fs.clone()))
        .sync(SyncPolicy::Os)
        .clock(TickingClock::new(Timestamp::from_millis(1_735_700_000_000), 7))
        .ids(NarrowIds::new(10, seed))
}
