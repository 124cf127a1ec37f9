//! Every failpoint, at its first occurrences in every kind of command that reaches it. It returns
//! an error once, returns errors from then on, panics, or kills the process. Afterwards everything
//! acknowledged is stored, the next command answers, and an ingest makes the store equal to a fresh
//! one.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot continue fails, and prints what it did"
)]

#[path = "damage.rs"]
#[allow(dead_code, reason = "shared with tests.rs")]
mod damage;
#[path = "harness.rs"]
#[allow(dead_code, reason = "shared with tests.rs")]
mod harness;
#[path = "library.rs"]
#[allow(dead_code, reason = "shared with tests.rs")]
mod library;
mod schema;
#[path = "vault.rs"]
mod vault;

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Output;
use std::sync::Mutex;

use damage::RepairCase;
use harness::{Place, copy, repeats};
use library::{Versions, assert_agrees, assert_no_leftovers, of_files, of_store};
use mdsel::failpoint::TABLE;

const DOCUMENTS: usize = 12;

/// Files and a store, and a command that changes the store.
struct Scenario {
    name: &'static str,
    place: Place,
    command: Vec<String>,
    /// Points that fail together with the tested one.
    along: &'static str,
    /// The documents of the store before and after the command.
    before: Versions,
    after: Versions,
}

/// Runs the program with failpoints.
fn run(place: &Place, command: &[&str], points: &str) -> Output {
    place.command("", command).env("FAILPOINTS", points).output().unwrap()
}

/// A store of `before` whose files have changed to `after`.
fn changed(before: &Versions, after: &Versions) -> Place {
    let place = Place::in_memory();
    library::write(&place, before);
    place.run(&["ingest"]).success();
    library::write(&place, after);
    place
}

/// A store whose index has as many segments as are kept without a merge, and its versions. One more
/// segment causes a merge.
fn before_a_merge() -> (Place, Versions) {
    let mut versions: Versions = vec![Some(1); DOCUMENTS];
    let place = changed(&versions, &versions);
    for number in 0..DOCUMENTS - 1 {
        let files = std::fs::read_dir(place.join(".mdsel.db-fts")).unwrap();
        let paths = files.map(|entry| entry.unwrap().path());
        if paths.filter(|path| path.extension().is_some_and(|e| e == "store")).count() >= 8 {
            break;
        }
        versions[number] = Some(2);
        library::write(&place, &versions);
        place.run(&["ingest"]).success();
    }
    (place, versions)
}

fn scenarios() -> Vec<Scenario> {
    let none: Versions = vec![None; DOCUMENTS];
    let first: Versions = vec![Some(1); DOCUMENTS];
    let mut second: Versions = vec![Some(2); DOCUMENTS];
    second[4] = None;
    second[9] = None;
    let third: Versions = vec![Some(3); DOCUMENTS];
    let mut edited = first.clone();
    edited[5] = Some(7);
    let content = library::document(5, 7);
    let edit = ["replace", &library::path(5), "@1", "--content", &content];
    let load = ["load", "a.pack", "--strategy", "overwrite"];

    let new = Place::in_memory();
    library::write(&new, &first);
    let (merging, before_merge) = before_a_merge();
    let mut merged = before_merge.clone();
    merged[DOCUMENTS - 1] = Some(3);
    library::write(&merging, &merged);
    let loading = changed(&first, &first);
    std::fs::write(loading.join("a.pack"), library::pack(&third)).unwrap();
    // Files that were left by killed processes, and files that another program damaged.
    let interrupted = changed(&first, &second);
    run(&interrupted, &["ingest"], "index-prepared=return(abort)");
    let before_interrupted = of_snapshot(&interrupted);
    let missing = changed(&first, &first);
    std::fs::remove_dir_all(missing.join(".mdsel.db-fts")).unwrap();
    let damaged = changed(&first, &first);
    std::fs::write(damaged.join(".mdsel.db-fts/meta.json"), "{}").unwrap();
    let ahead = changed(&first, &first);
    run(&ahead, &edit, "edit-before-rename=return(abort)");
    let noted = changed(&first, &first);
    run(&noted, &edit, "edit-renamed=return(abort)");

    let scenario = |name, place, command: &[&str], before: &Versions, after: &Versions| Scenario {
        name,
        place,
        command: command.iter().map(|&word| word.to_owned()).collect(),
        along: "",
        before: before.clone(),
        after: after.clone(),
    };
    let ingest = &["ingest"][..];
    let search = &["search", "line"][..];
    let mut undone =
        scenario("an edit that is undone", changed(&first, &first), &edit, &first, &edited);
    undone.along = "edit-before-rename=return";
    vec![
        scenario("a first ingest", new, ingest, &none, &first),
        scenario("an ingest", changed(&first, &second), ingest, &first, &second),
        scenario("an ingest that merges", merging, ingest, &before_merge, &merged),
        scenario("an ingest after a killed one", interrupted, ingest, &before_interrupted, &second),
        scenario("a load", loading, &load, &first, &third),
        scenario("an edit", changed(&first, &first), &edit, &first, &edited),
        undone,
        scenario("after an edit whose file is not renamed", ahead, &["status"], &edited, &edited),
        scenario("after an edit that was made", noted, &["status"], &edited, &edited),
        scenario("a search without an index", missing, search, &first, &first),
        scenario("a search with a damaged index", damaged, search, &first, &first),
    ]
}

/// The versions in a store, read from a copy so that the store itself is not recovered.
fn of_snapshot(place: &Place) -> Versions {
    let copied = Place::in_memory();
    copy(place.path(), copied.path());
    of_store(&copied, DOCUMENTS)
}

/// How a point fails. The death of the process is first, because it shows whether the point was
/// reached.
const MODES: [&str; 4] = ["return(abort)", "1*return", "return", "panic"];

/// The commands that follow a failure.
const QUESTIONS: [&[&str]; 6] =
    [&["search", "line"], &["status"], &["search", "-F", "line"], &["toc"], &["dump"], &["ingest"]];

/// A command that a failure interrupts.
trait Case: Sync {
    /// Each point fails after 0, 1, ... of its occurrences succeeded; the number of these variants.
    fn times(&self) -> usize;

    /// Makes a point fail and checks the result. Returns whether the point was reached. `number`
    /// differs from failure to failure.
    fn check(&self, point: &str, times_before: usize, mode: &str, number: usize) -> bool;
}

impl Case for RepairCase {
    fn times(&self) -> usize {
        1
    }

    fn check(&self, point: &str, times_before: usize, mode: &str, number: usize) -> bool {
        let place = self.copy();
        let points = format!("{point}={times_before}*off->{mode}");
        let output = run(&place, self.command, &points);
        let what = format!("{}: {points}: {output:?}", self.name);
        let is_dead = output.status.signal() == Some(6);
        if mode == "return(abort)" && !is_dead {
            return false;
        }
        assert!(is_dead || matches!(output.status.code(), Some(0..=2 | 101)), "{what}");
        self.assert_kept(&place, &what);
        if String::from_utf8_lossy(&output.stdout).contains("its file cannot be ingested") {
            place.run(&["ingest", &library::path(3)]).success();
        }
        self.assert_repaired(&place, number, &what);
        true
    }
}

impl Case for Scenario {
    fn times(&self) -> usize {
        // An edit is short, so it is tested at every step.
        if self.command[0] == "replace" { 5 } else { 2 }
    }

    fn check(&self, point: &str, times_before: usize, mode: &str, number: usize) -> bool {
        let question = QUESTIONS[number % QUESTIONS.len()];
        let place = Place::in_memory();
        copy(self.place.path(), place.path());
        let command: Vec<&str> = self.command.iter().map(String::as_str).collect();
        let points = format!("{};{point}={times_before}*off->{mode}", self.along);
        let output = run(&place, &command, &points);
        let what = format!("{}: {points}: {output:?}", self.name);
        let is_dead = output.status.signal() == Some(6);
        if mode == "return(abort)" && !is_dead {
            return false;
        }
        let said = serde_json::from_slice::<serde_json::Value>(&output.stdout);
        match mode {
            "return(abort)" => {}
            "panic" => assert!(matches!(output.status.code(), Some(0 | 2 | 101)), "{what}"),
            _ => {
                assert!(matches!(output.status.code(), Some(0 | 2)), "{what}");
                let code = said.as_ref().unwrap()["error"]["code"].as_str().unwrap_or("IO");
                assert_eq!(code, "IO", "{what}");
            }
        }
        let is_acknowledged = output.status.success();

        // The next command answers, from complete documents.
        let next = place.run(question);
        let is_absent = self.before.iter().all(Option::is_none)
            && (String::from_utf8_lossy(&next.stdout) + &*next.stderr).contains("STORE_NOT_FOUND");
        assert!(next.status < 2 || is_absent, "{what}\n{}\n{}", next.text(), next.stderr);
        // An ingest as the next command makes the store equal to the files at once.
        if !is_absent && question != ["ingest"] {
            let stored = of_store(&place, DOCUMENTS);
            let has_skipped = said.is_ok_and(|said| said["skipped"][0].is_object());
            for (number, stored) in stored.iter().enumerate() {
                let is_one = [self.before[number], self.after[number]].contains(stored);
                assert!(is_one || stored.is_none() && has_skipped, "{number} {stored:?}\n{what}");
            }
            if is_acknowledged && !has_skipped {
                assert_eq!(stored, self.after, "{what}");
            }
            if !["ingest", "load"].contains(&command[0]) {
                assert_eq!(stored, of_files(&place, DOCUMENTS), "{what}");
            }
            assert_agrees(&place, &stored, &[&self.before, &self.after]);
        }
        for (number, version) in of_files(&place, DOCUMENTS).into_iter().enumerate() {
            let of_command = [self.before[number], self.after[number]];
            let before = of_files(&self.place, DOCUMENTS)[number];
            assert!(version == before || of_command.contains(&version), "{what}");
        }
        // When the store is equal to the files again, it is like a fresh store.
        place.run(&["ingest"]).success();
        assert_eq!(of_store(&place, DOCUMENTS), of_files(&place, DOCUMENTS), "{what}");
        assert_agrees(&place, &of_files(&place, DOCUMENTS), &[&self.before, &self.after]);
        assert_no_leftovers(&place);
        place.assert_in_step();
        true
    }
}

/// A move that changes five files.
struct MoveCase {
    place: Place,
    before: vault::Files,
    after: vault::Files,
    /// Points that fail together with the tested one.
    along: &'static str,
}

impl MoveCase {
    fn new(along: &'static str) -> Self {
        let place = vault::vault();
        let before = vault::files(&place);
        let moved = vault::vault();
        moved.run(&vault::MOVE).success();
        Self { place, before, after: vault::files(&moved), along }
    }
}

impl Case for MoveCase {
    fn times(&self) -> usize {
        6
    }

    fn check(&self, point: &str, times_before: usize, mode: &str, number: usize) -> bool {
        let question = QUESTIONS[number % QUESTIONS.len()];
        let place = Place::in_memory();
        copy(self.place.path(), place.path());
        let points = format!("{};{point}={times_before}*off->{mode}", self.along);
        let output = run(&place, &vault::MOVE, &points);
        let what = format!("a move: {points}: {output:?}");
        if mode == "return(abort)" && output.status.signal() != Some(6) {
            return false;
        }
        drop(place.run(question));
        place.run(&["status"]).success();
        vault::assert_all_or_none(&place, &self.before, &self.after, &what);
        let is_made = vault::files(&place) == self.after;
        let error = String::from_utf8_lossy(&output.stderr);
        let is_known = !error.contains("may have been made");
        match output.status.code() {
            Some(0) => assert!(is_made, "{what}"),
            // A user repeats an edit that failed.
            Some(2) if is_known => {
                assert!(!is_made, "{what}");
                assert!(!place.join("archive").exists(), "a folder was left: {what}");
            }
            _ => {}
        }
        place.assert_in_step();
        true
    }
}

#[test]
fn no_failure_at_any_point_loses_data() {
    let (scenarios, repair_cases) = (scenarios(), damage::repair_cases());
    let relocations = [MoveCase::new(""), MoveCase::new("edit-before-removal=return")];
    let relocations = relocations.iter().map(|case| case as &dyn Case);
    let scenarios = scenarios.iter().map(|scenario| scenario as &dyn Case);
    let repair_cases = repair_cases.iter().map(|case| case as &dyn Case);
    let jobs: Vec<_> = scenarios
        .chain(repair_cases)
        .chain(relocations)
        .flat_map(|case| TABLE.iter().map(move |point| (case, point.name)))
        .collect();
    let next = Mutex::new(jobs.into_iter().enumerate());
    let reached = Mutex::new(BTreeSet::new());
    let count = Mutex::new(0);
    let soak = usize::try_from(repeats(1)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                loop {
                    let job = next.lock().unwrap().next();
                    let Some((number, (case, point))) = job else { break };
                    for times_before in 0..case.times() * soak {
                        let mut modes = MODES.into_iter().zip(number + times_before..);
                        let is_reached = modes.all(|(mode, number)| {
                            let is_reached = case.check(point, times_before, mode, number);
                            *count.lock().unwrap() += u32::from(is_reached);
                            is_reached
                        });
                        if !is_reached {
                            break;
                        }
                        reached.lock().unwrap().insert(point);
                    }
                }
            });
        }
    });
    let reached = reached.into_inner().unwrap();
    eprintln!("{} points, {} failures, nothing lost", reached.len(), count.into_inner().unwrap());
    let never = TABLE.iter().filter(|point| !reached.contains(point.name));
    assert_eq!(never.map(|point| point.name).collect::<Vec<_>>(), Vec::<&str>::new());
}

/// A reader that finds an older index while a writer holds the lock looks again. The commit that it
/// waits for happens after it reads the version of the index and before it opens the index.
#[test]
fn a_commit_while_the_index_is_opened_duplicates_no_hit() {
    let versions = |version| vec![Some(version); DOCUMENTS];
    let place = changed(&versions(1), &versions(2));
    let mut writer = place
        .command("", &["ingest"])
        .env("FAILPOINTS", "index-prepared=1*sleep(1000)")
        .spawn()
        .unwrap();
    while of_store(&place, DOCUMENTS) != versions(2) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let search = ["search", "line", "--limit", "0", "--keep-duplicates"];
    let output = run(&place, &search, "index-stamp-read=1*off->1*sleep(1500)");
    writer.wait().unwrap();
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(library::hits(&answer).len(), 2 * DOCUMENTS);
}

/// A script that gets an error takes it that nothing was stored.
#[test]
fn a_failure_after_the_last_commit_of_an_ingest_is_a_warning() {
    let first: Versions = vec![Some(1); DOCUMENTS];
    let second: Versions = vec![Some(2); DOCUMENTS];
    let place = changed(&first, &second);
    let output = run(&place, &["ingest"], "before-checkpoint=return");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{answer}");
    assert_eq!(answer["warnings"][0]["code"], "LOG_KEPT", "{answer}");
    assert!(answer["changed"].as_u64() > Some(0), "{answer}");
    assert_eq!(of_store(&place, DOCUMENTS), second);
}

/// A user who gets an error repeats the edit, so after the rename there must be no error.
#[test]
fn a_failure_after_the_rename_reports_that_the_file_was_changed() {
    let first: Versions = vec![Some(1); DOCUMENTS];
    let content = library::document(5, 7);
    let edit = ["replace", &library::path(5), "@1", "--content", &content];
    for points in ["edit-renamed=return", "before-commit=2*off->return", "before-checkpoint=return"]
    {
        let place = changed(&first, &first);
        let output = run(&place, &edit, points);
        assert_eq!(of_files(&place, DOCUMENTS)[5], Some(7), "{points}: {output:?}");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &answer["success"]), (Some(0), &true.into()), "{points}");
        let warning = &answer["warnings"][0];
        assert_eq!(warning["code"], "EDIT_UNFINISHED", "{points}: {answer}");
        assert!(warning["message"].as_str().unwrap().contains("the file was changed"));
        place.run(&["status"]).success();
        assert_eq!(of_store(&place, DOCUMENTS)[5], Some(7), "{points}");
        place.assert_in_step();
    }
}

/// Returns the files and the store after `command` was killed at `point`, or `None` if it did not reach the point.
fn killed_move(command: &[&str], point: &str, times_before: usize) -> Option<Place> {
    let place = before_a_move();
    let output = run(&place, command, &format!("{point}={times_before}*off->return(abort)"));
    output.status.signal().is_some().then_some(place)
}

fn before_a_move() -> Place {
    let place = Place::with(&[
        ("a.md", "# A\n\n## Part\n\nprecious\n\n## Other\n\nx\n"),
        ("b.md", "# B\n\n## In\n\ny [a](a.md)\n"),
    ]);
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(place.join("a.md"), private).unwrap();
    place.run(&["ingest"]).success();
    place
}

fn has(place: &Place, path: &str, text: &str) -> bool {
    std::fs::read_to_string(place.join(path)).is_ok_and(|file| file.contains(text))
}

#[test]
fn a_killed_edit_of_several_files_is_whole_before_an_ingest_reads_them() {
    let moves = [&["move", "a.md::Part", "--to", "b.md::In"][..], &["move", "a.md", "new/c.md"]];
    let followers = [
        &["ingest"][..],
        &["search", "-F", "x", "--refresh"],
        &["context", "--query", "x", "--refresh"],
        &["insert", "b.md::In", "--content", "z", "--refresh"],
    ];
    let mut killed = 0;
    for (command, point) in moves
        .iter()
        .flat_map(|one| ["edit-before-rename", "edit-renamed"].map(|point| (one, point)))
    {
        for (times, follower) in (0..4).flat_map(|times| followers.map(|one| (times, one))) {
            let Some(place) = killed_move(command, point, times) else { continue };
            killed += 1;
            let case = format!("{command:?} {point} {times} {follower:?}");
            let answer = place.run(follower);
            let said = format!("{}{}", answer.text(), answer.stderr);
            assert!(said.contains("interrupted edit"), "{case}: {said}");
            let places = ["a.md", "b.md", "new/c.md"];
            let having = places.iter().filter(|path| has(&place, path, "precious")).count();
            assert_eq!(having, 1, "{case}: {said}");
            let is_public = |path: &&str| {
                std::fs::metadata(place.join(path)).is_ok_and(|it| it.mode() & 0o077 != 0)
            };
            assert!(!["a.md", "new/c.md"].iter().any(is_public), "{case}");
            place.run(&["ingest", "--check"]).success();
            place.run(&["links", "check"]).success();
        }
    }
    assert!(killed >= 9, "{killed}");
}

#[test]
fn recovery_removes_the_empty_folders_that_the_edit_made() {
    let points = ["begun", "before-commit", "edit-noted", "edit-temporary-made"];
    for (is_there, point) in
        [false, true].into_iter().flat_map(|is_there| points.map(|point| (is_there, point)))
    {
        let place = before_a_move();
        if is_there {
            std::fs::create_dir(place.join("new")).unwrap();
        }
        let command = ["move", "a.md", "new/deep/c.md"];
        let output = run(&place, &command, &format!("{point}=return(abort)"));
        assert!(output.status.signal().is_some(), "{output:?}");
        let is_made = place.join("new/deep").is_dir();
        assert_eq!(is_made, point == "edit-temporary-made", "{point}");
        let said = place.run(&["status"]).success();
        let is_noted = point.starts_with("edit-");
        assert_eq!(said.text().contains("was not made"), is_noted, "{}", said.text());
        // The user's own folder stays.
        assert_eq!(place.join("new").exists(), is_there, "{point}");
        assert!(!place.join("new/deep").exists() && has(&place, "a.md", "precious"), "{point}");
    }
}

#[test]
fn recovery_removes_no_bytes_that_are_nowhere_else() {
    let commands = [&["move", "a.md::Part", "--to", "b.md::In"][..], &["move", "a.md", "new/c.md"]];
    // A user adds a line to a file, or makes a file or a folder, before the next command.
    for (command, path) in
        commands.iter().flat_map(|one| ["a.md", "b.md", "new/c.md", "new"].map(|path| (one, path)))
    {
        for (point, times) in
            ["edit-before-rename", "edit-renamed"].iter().flat_map(|point| [(point, 0), (point, 1)])
        {
            let Some(place) = killed_move(command, point, times) else { continue };
            if path == "new" {
                std::fs::remove_dir(place.join("new")).ok();
            }
            let before = std::fs::read_to_string(place.join(path)).unwrap_or_default();
            if place.join(path).is_dir() {
                continue;
            }
            place.write(path, before + "\nmine\n");
            place.run(&["status"]).success();
            place.run(&["ingest"]).success();
            let case = format!("{command:?} {path} {point} {times}");
            assert!(has(&place, path, "mine"), "{case}");
            let mut files = ["a.md", "b.md", "new/c.md"].iter();
            assert!(files.any(|one| has(&place, one, "precious")), "{case}");
        }
    }
}

/// Puts the store, without its index, of `from` in the place of that of `to`.
fn put_store(from: &Place, to: &Place) {
    std::fs::remove_dir_all(to.join(".mdsel.db-fts")).unwrap();
    for name in [".mdsel.db", ".mdsel.db-wal"] {
        drop(std::fs::remove_file(to.join(name)));
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

/// A copy of a folder that is made during an edit may have the store without the commit of the edit, and so may a store
/// with a damaged log.
#[test]
fn a_store_that_lost_the_commit_of_an_edit_takes_back_no_file() {
    let commands: [&[&str]; 4] = [
        &["replace", "a.md", "Part", "--content", "newer"],
        &["rename", "a.md", "Part", "--title", "Whole"],
        &["move", "a.md::Part", "--to", "b.md::In"],
        &["move", "a.md", "new/c.md"],
    ];
    for command in commands {
        let older = killed_move(command, "edit-temporary-written", 0).unwrap();
        let place = before_a_move();
        place.run(command).success();
        put_store(&older, &place);
        let files =
            || ["a.md", "b.md", "new/c.md"].map(|path| std::fs::read(place.join(path)).ok());
        let edited = files();
        let answer = place.run(&["search", "precious", "-f", "json"]);
        assert!(
            answer.text().contains("the file stays as it is"),
            "{command:?}: {}",
            answer.text()
        );
        assert_eq!(files(), edited, "{command:?}");
        place.run(&["ingest"]).success();
        assert_eq!(files(), edited, "{command:?}");
        place.assert_in_step();
        assert_no_leftovers(&place);
    }
    // The copy has neither the old place of the document nor the new one.
    let older = killed_move(commands[3], "edit-temporary-written", 0).unwrap();
    let place = before_a_move();
    place.remove("a.md");
    put_store(&older, &place);
    drop(place.run(&["search", "precious"]));
    assert!(has(&place, "a.md", "precious"));
}

#[test]
fn a_killed_edit_is_dropped_if_a_file_replaced_its_folder() {
    let place = Place::ingested(&[("d/a.md", "# A\n\nold\n"), ("b.md", "# B\n\nold\n")]);
    let edit = ["replace", "d/a.md", "A", "--content", "new"];
    assert_eq!(run(&place, &edit, "edit-before-rename=return(abort)").status.code(), None);
    std::fs::remove_dir_all(place.join("d")).unwrap();
    place.write("d", "mine");
    let answer = place.run(&["search", "old"]).success().text();
    assert!(answer.contains("EDIT_RECOVERED") && answer.contains("its folder changed"), "{answer}");
    assert!(has(&place, "d", "mine"));
    place.run(&["replace", "b.md", "B", "--content", "new"]).success();
    assert_eq!(place.run(&["ingest"]).success().json()["removed"], 1);
    place.assert_in_step();
}

#[test]
fn a_copy_of_a_folder_with_an_open_edit_changes_only_its_own_files() {
    let commands = [
        &["replace", "a.md", "Part", "--content", "precious and new"][..],
        &["move", "a.md::Part", "--to", "b.md::In"],
        &["move", "a.md", "new/c.md"],
    ];
    let mut killed = 0;
    for (command, point) in commands.iter().flat_map(|one| {
        ["edit-temporary-written", "edit-before-rename", "edit-renamed"].map(|point| (one, point))
    }) {
        for times in 0..2 {
            let Some(place) = killed_move(command, point, times) else { continue };
            killed += 1;
            let case = format!("{command:?} {point} {times}");
            let copied = Place::new();
            copy(place.path(), copied.path());
            let files = |place: &Place| {
                ["a.md", "b.md", "new/c.md"].map(|path| std::fs::read(place.join(path)).ok())
            };
            let open = files(&place);
            let answer = copied.run(&["search", "precious"]).success();
            assert_eq!(files(&place), open, "{case}: {}", answer.text());
            place.run(&["search", "precious"]).success();
            assert_eq!(files(&place), files(&copied), "{case}: {}", answer.text());
            for place in [&place, &copied] {
                let having = ["a.md", "b.md", "new/c.md"];
                let having = having.iter().filter(|path| has(place, path, "precious")).count();
                assert_eq!(having, 1, "{case}");
                place.run(&["ingest", "--check"]).success();
                assert_no_leftovers(place);
            }
        }
    }
    assert!(killed >= 12, "{killed}");
}

#[test]
fn a_killed_edit_is_finished_when_its_folder_is_there_again() {
    let (to, from) = ("d1/b.md::In", "d0/a.md::Part");
    let mut killed = 0;
    for (hidden, point, times) in ["d0", "d1"].into_iter().flat_map(|hidden| {
        let points = ["edit-before-rename", "edit-renamed"].into_iter();
        points.flat_map(move |point| [0, 1].map(|times| (hidden, point, times)))
    }) {
        let place = Place::ingested(&[
            ("d0/a.md", "# A\n\n## Part\n\nprecious\n\n## Other\n\nx\n"),
            ("d1/b.md", "# B\n\n## In\n\ny\n"),
        ]);
        let points = format!("{point}={times}*off->return(abort)");
        killed +=
            usize::from(run(&place, &["move", from, "--to", to], &points).status.code().is_none());
        std::fs::rename(place.join(hidden), place.join(".away")).unwrap();
        let case = format!("{hidden} {point} {times}");
        let answer = place.run(&["search", "precious"]).success();
        assert!(answer.text().contains("EDIT_OPEN"), "{case}: {}", answer.text());
        assert!(!place.join(hidden).exists(), "{case}");
        std::fs::rename(place.join(".away"), place.join(hidden)).unwrap();
        let answer = place.run(&["search", "precious"]).success();
        assert!(answer.text().contains("EDIT_RECOVERED"), "{case}: {}", answer.text());
        let found = ["d0/a.md", "d1/b.md"].map(|path| has(&place, path, "precious"));
        assert_eq!(found, [false, true], "{case}: {}", answer.text());
        place.assert_in_step();
        assert_no_leftovers(&place);
    }
    assert_eq!(killed, 8);
}
