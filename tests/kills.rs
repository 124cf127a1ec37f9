//! The program is killed at random moments, many times. Everything that it acknowledged is stored,
//! every document is complete, and the next command answers.
//!
//! The generation of the store shows whether a killed command had committed. A commit without an
//! acknowledgment is correct; an acknowledgment without a commit is a loss.

use std::time::{Duration, Instant};

use crate::damage;
use crate::harness::{Place, repeats};
use crate::library::{
    self, Versions, assert_agrees, assert_no_leftovers, of_files, of_store, pack, path,
};

const DOCUMENTS: usize = 12;

/// The command that is killed.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// All files have changed, some were removed, and all are ingested in one transaction.
    Ingest,
    /// One document is replaced.
    Edit,
    /// Other versions of all documents are loaded in one transaction.
    Load,
}

/// A store whose writers are killed.
struct Victim {
    place: Place,
    /// The newest version of any document.
    version: u64,
    round: u64,
    /// The versions that are known to be stored.
    stored: Versions,
    /// How long each kind takes if it is not killed.
    lengths: [Duration; 3],
    /// How long the first command after each kill took.
    recoveries: Vec<Duration>,
    landed: u64,
    acknowledged: u64,
}

impl Victim {
    fn new() -> Self {
        let place = Place::in_memory();
        let stored = vec![Some(1); DOCUMENTS];
        library::write(&place, &stored);
        place.run(&["ingest"]).success();
        let mut victim = Self {
            place,
            version: 1,
            round: 0,
            stored,
            lengths: [Duration::ZERO; 3],
            recoveries: Vec::new(),
            landed: 0,
            acknowledged: 0,
        };
        for kind in [Kind::Ingest, Kind::Edit, Kind::Load] {
            let (arguments, wanted) = victim.prepare(kind);
            let began = Instant::now();
            victim.place.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).success();
            victim.lengths[kind as usize] = began.elapsed();
            victim.stored = wanted;
        }
        victim.level();
        victim
    }

    /// Prepares a change. Returns the command that makes it and the versions that it stores.
    fn prepare(&mut self, kind: Kind) -> (Vec<String>, Versions) {
        self.version += 1;
        let mut wanted = self.stored.clone();
        let arguments: Vec<String> = match kind {
            Kind::Ingest => {
                for (number, version) in (0..).zip(&mut wanted) {
                    let is_gone = (number + self.version).is_multiple_of(7);
                    *version = (!is_gone).then_some(self.version);
                }
                library::write(&self.place, &wanted);
                vec!["ingest".into()]
            }
            Kind::Edit => {
                let there: Vec<usize> =
                    (0..DOCUMENTS).filter(|&number| wanted[number].is_some()).collect();
                let number = there[usize::try_from(self.version).unwrap() % there.len()];
                wanted[number] = Some(self.version);
                let content = library::document(number, self.version);
                let words = ["replace", &path(number), "@1", "--content", &content];
                words.map(str::to_owned).to_vec()
            }
            Kind::Load => {
                wanted.fill(Some(self.version));
                std::fs::write(self.place.join("next.pack"), pack(&wanted)).unwrap();
                ["load", "next.pack", "--strategy", "overwrite"].map(str::to_owned).to_vec()
            }
        };
        (arguments, wanted)
    }

    /// A moment within `length` or shortly after it, evenly spread.
    fn moment(&mut self, length: Duration) -> Duration {
        self.round += 1;
        let part = u32::try_from(self.round * 618 % 1000).unwrap();
        length * part / 900
    }

    fn generation(&self) -> u64 {
        self.place.run(&["status"]).success().json()["generation"].as_u64().unwrap()
    }

    /// Kills a command, then `deaths` of the commands that follow it, and checks the result.
    fn kill(&mut self, kind: Kind, deaths: usize) {
        let before = self.generation();
        let (arguments, wanted) = self.prepare(kind);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let moment = self.moment(self.lengths[kind as usize]);
        let (said, _) = self.place.kill(&arguments, moment);
        let is_acknowledged = serde_json::from_slice::<serde_json::Value>(&said).is_ok();
        // These commands first recover the index and unfinished edits.
        let word = library::word(3, self.version);
        let questions = [
            &["search", &word][..],
            &["status"],
            &["select", "*/3.md::*?full=true", "-f", "raw"],
            &["search", "-F", &word],
            &["toc"],
            &["dump"],
        ];
        for _ in 0..deaths {
            let moment = self.moment(self.lengths[Kind::Ingest as usize]);
            let question = questions[usize::try_from(self.round).unwrap() % 2];
            drop(self.place.kill(question, moment));
        }
        let began = Instant::now();
        let question = questions[usize::try_from(self.round).unwrap() % questions.len()];
        let answer = self.place.run(question);
        self.recoveries.push(began.elapsed());
        assert!(answer.status < 2, "{question:?}: {} {}", answer.text(), answer.stderr);

        let stored = of_store(&self.place, DOCUMENTS);
        let generation = self.generation();
        let is_landed = stored == wanted;
        assert!(
            is_landed || stored == self.stored,
            "{kind:?}: {stored:?} is neither the old nor the new state"
        );
        assert!(is_landed || !is_acknowledged, "{kind:?}: an acknowledged change is lost");
        match kind {
            // The file decides. An edit that was undone has changed the store twice.
            Kind::Edit => {
                let number = (0..DOCUMENTS).find(|&n| wanted[n] != self.stored[n]).unwrap();
                assert_eq!(of_files(&self.place, DOCUMENTS)[number], stored[number]);
                let expected = if is_landed { 1..=3 } else { 0..=2 };
                assert!(expected.contains(&(generation - before)), "{before} {generation}");
            }
            Kind::Ingest | Kind::Load => {
                assert_eq!(generation, before + u64::from(is_landed), "{kind:?}");
            }
        }
        self.landed += u64::from(is_landed);
        self.acknowledged += u64::from(is_acknowledged);
        let other = if is_landed { &self.stored } else { &wanted };
        assert_agrees(&self.place, &stored, &[other]);
        self.stored = stored;
    }

    /// Makes the store equal to the files, and compares it with a fresh one.
    fn level(&mut self) {
        self.place.run(&["ingest"]).success();
        self.stored = of_store(&self.place, DOCUMENTS);
        let files = of_files(&self.place, DOCUMENTS);
        // Loaded documents without files stay until their paths are named.
        for number in (0..DOCUMENTS).filter(|&number| files[number] != self.stored[number]) {
            self.place.run(&["ingest", &path(number)]).success();
        }
        self.stored = of_store(&self.place, DOCUMENTS);
        assert_eq!(self.stored, of_files(&self.place, DOCUMENTS));
        assert_agrees(&self.place, &self.stored, &[]);
        assert_no_leftovers(&self.place);
        self.place.assert_in_step();
    }

    fn report(mut self, name: &str) {
        self.level();
        self.recoveries.sort();
        let count = self.recoveries.len();
        let at = |part: usize| self.recoveries[(count * part / 100).min(count - 1)];
        eprintln!(
            "{name}: {count} deaths, {} landed, {} acknowledged, 0 lost; recovery p50 {:?} p99 {:?} max {:?}",
            self.landed,
            self.acknowledged,
            at(50),
            at(99),
            at(100),
        );
        // A busy machine is slow at both. Among a few deaths, p99 is the one that met a stalled disk.
        let longest = self.lengths.iter().max().unwrap();
        let slow = at(if count < 500 { 90 } else { 99 });
        assert!(slow < (*longest * 10).max(Duration::from_secs(1)), "{slow:?} {longest:?}");
        assert!(self.landed > 0 && self.acknowledged < count as u64);
    }
}

#[test]
fn a_killed_ingest_is_stored_completely_or_not_at_all() {
    let mut victim = Victim::new();
    for round in 0..repeats(40) {
        victim.kill(Kind::Ingest, 0);
        if round % 4 == 3 {
            victim.level();
        }
    }
    victim.report("ingests");
}

#[test]
fn a_killed_edit_is_made_completely_or_not_at_all() {
    let mut victim = Victim::new();
    for _ in 0..repeats(40) {
        victim.kill(Kind::Edit, 0);
    }
    victim.report("edits");
}

#[test]
fn a_store_survives_kills_during_its_recovery() {
    let mut victim = Victim::new();
    for round in 0..repeats(20) {
        let kind = [Kind::Edit, Kind::Ingest, Kind::Load][usize::try_from(round % 3).unwrap()];
        if matches!(kind, Kind::Edit) {
            // The edited file must be the one that is stored.
            victim.level();
        }
        victim.kill(kind, 3);
    }
    victim.report("recoveries");
}

#[test]
fn killed_loads_between_ingests_and_edits_are_stored_completely_or_not_at_all() {
    let mut victim = Victim::new();
    for round in 0..repeats(20) {
        victim.kill(Kind::Load, 0);
        if round % 2 == 0 {
            victim.kill(Kind::Ingest, 0);
        }
        victim.level();
        victim.kill(Kind::Edit, 0);
    }
    victim.report("mixed");
}

#[test]
fn a_killed_repair_or_migration_is_finished_by_the_next_command() {
    let repair_cases = damage::repair_cases();
    let rounds = usize::try_from(repeats(10)).unwrap();
    let (mut kills, mut ended) = (0, 0);
    for round in 0..rounds {
        let case = &repair_cases[round % repair_cases.len()];
        let place = case.copy();
        // Every third command is killed a second time.
        for death in 0..=usize::from(round % 3 == 2) {
            let part = u32::try_from((round + death) * 618 % 1000).unwrap();
            let (_, has_ended) = place.kill(case.command, case.length * part / 900);
            kills += 1;
            ended += usize::from(has_ended);
            case.assert_kept(&place, case.name);
        }
        case.assert_repaired(&place, round, case.name);
    }
    eprintln!("{kills} kills of repairs and migrations, of which {ended} had ended");
    assert!(ended < kills);
}
