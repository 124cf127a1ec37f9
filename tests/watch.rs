//! `ingest --watch`: the store follows the files.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{PROGRAM, Place};

/// Kills the process on drop.
struct Watching {
    child: std::process::Child,
    answers: Receiver<Value>,
}

impl Watching {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["ingest", "--watch"])
            .args(arguments)
            .current_dir(place.path())
            .env_clear()
            .env("HOME", place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, answers) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines() {
                let answer = serde_json::from_str(&line.unwrap()).unwrap();
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        Self { child, answers }
    }

    /// Waits until the sums of added, changed and removed documents are `wanted`. One ingest may
    /// include several changes, and one change may need several ingests.
    fn until(&self, wanted: [u64; 3]) {
        let began = Instant::now();
        let mut sums = [0; 3];
        while sums != wanted {
            let left = Duration::from_secs(20).saturating_sub(began.elapsed());
            let answer = self
                .answers
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("{sums:?}, expected {wanted:?}"));
            for (sum, name) in sums.iter_mut().zip(["added", "changed", "removed"]) {
                *sum += answer[name].as_u64().unwrap();
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn the_store_follows_the_files_of_all_collections() {
    let place = Place::with(&[("a.md", "# One\n"), ("beside/b.md", "# Two\n"), ("store/x.md", "")]);
    let home = ["ingest", "--collection", "beside", "../beside"];
    place.run_in("store", &["ingest"], "").success();
    place.run_in("store", &home, "").success();
    let store = place.join("store/.mdsel.db");
    let watching = Watching::start(&place, &["--db", store.to_str().unwrap()]);
    watching.until([0, 0, 0]);
    place.write("beside/c.md", "# Three\n");
    watching.until([1, 0, 0]);
    place.write("store/d.md", "# Four\n");
    place.write("a.md", "# Not in the store\n");
    watching.until([1, 0, 0]);
    place.remove("beside/b.md");
    watching.until([0, 0, 1]);
    place.run_in("store", &["read", "beside/c.md", "Three"], "").success();
}

#[test]
fn a_change_is_ingested_after_another_process_has_finished() {
    let place = Place::with(&[("docs/a.md", "# One\n")]);
    place.run_in("docs", &["ingest"], "").success();
    let store = place.join("docs/.mdsel.db");
    let watching = Watching::start(&place, &["--db", store.to_str().unwrap(), "--wait", "0"]);
    watching.answers.recv_timeout(Duration::from_secs(20)).unwrap();
    let lock = std::fs::File::open(place.join("docs/.mdsel.db-lock")).unwrap();
    lock.lock().unwrap();
    place.write("docs/b.md", "# Two\n");
    // The watch notices the change within two seconds.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(watching.answers.try_recv().ok(), None);
    lock.unlock().unwrap();
    watching.until([1, 0, 0]);
}

#[test]
fn a_change_is_ingested_after_an_error_that_passes() {
    let place = Place::with(&[("docs/a.md", "# One\n"), ("store/x", "")]);
    place.run_in("store", &["ingest", "../docs"], "").success();
    let store = place.join("store/.mdsel.db");
    let watching = Watching::start(&place, &["--db", store.to_str().unwrap()]);
    watching.answers.recv_timeout(Duration::from_secs(20)).unwrap();
    std::fs::rename(place.join("docs"), place.join("away")).unwrap();
    place.write("away/b.md", "# Two\n");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(watching.answers.try_recv().ok(), None);
    std::fs::rename(place.join("away"), place.join("docs")).unwrap();
    watching.until([1, 0, 0]);
    place.write("docs/c.md", "# Three\n");
    watching.until([1, 0, 0]);
}

#[test]
fn a_watch_ends_without_its_store() {
    let place = Place::with(&[("docs/a.md", "# One\n")]);
    place.run_in("docs", &["ingest"], "").success();
    let store = place.join("docs/.mdsel.db");
    let watching = Watching::start(&place, &["--db", store.to_str().unwrap()]);
    watching.answers.recv_timeout(Duration::from_secs(20)).unwrap();
    for suffix in ["", "-wal", "-shm", "-lock"] {
        drop(std::fs::remove_file(place.join(&format!("docs/.mdsel.db{suffix}"))));
    }
    place.write("docs/b.md", "# Two\n");
    let next = || watching.answers.recv_timeout(Duration::from_secs(20)).unwrap();
    // An ingest may have begun before the store was removed.
    let answer = std::iter::repeat_with(next).find(|answer| answer["error"].is_object()).unwrap();
    assert_eq!(answer["error"]["code"], "STORE_NOT_FOUND", "{answer}");
    assert!(!store.exists());
}

#[test]
fn the_store_follows_the_ignore_files_above_its_root() {
    let place = Place::with(&[("docs/a.md", "# One\n"), ("docs/b.md", "# Two\n")]);
    std::fs::create_dir_all(place.join(".git/info")).unwrap();
    place.run_in("docs", &["ingest"], "").success();
    let store = place.join("docs/.mdsel.db");
    let watching = Watching::start(&place, &["--db", store.to_str().unwrap()]);
    watching.until([0, 0, 0]);
    place.write(".gitignore", "b.md\n");
    watching.until([0, 0, 1]);
    place.write(".git/info/exclude", "a.md\n");
    watching.until([0, 0, 1]);
    place.remove(".gitignore");
    watching.until([1, 0, 0]);
}

#[test]
fn the_store_follows_a_collection_and_options_that_another_process_gives_it() {
    let place = Place::with(&[("store/a.md", ""), ("beside/b.md", "# Two\n")]);
    place.run_in("store", &["ingest"], "").success();
    let store = place.join("store/.mdsel.db");
    let watching = Watching::start(&place, &["--db", store.to_str().unwrap()]);
    watching.until([0, 0, 0]);
    place.run_in("store", &["ingest", "--collection", "beside", "../beside"], "").success();
    place.run_in("store", &["ingest", "--ext", "md,txt"], "").success();
    // The next change shows the watch what it has to follow.
    place.write("store/c.md", "# Three\n");
    watching.until([1, 0, 0]);
    place.write("beside/d.md", "# Four\n");
    watching.until([1, 0, 0]);
    place.write("store/e.txt", "# Five\n");
    watching.until([1, 0, 0]);
}

#[test]
fn a_collection_whose_folder_comes_back_is_followed_again() {
    let place = Place::with(&[("store/a.md", "# One\n"), ("beside/b.md", "# Two\n")]);
    place.run_in("store", &["ingest"], "").success();
    place.run_in("store", &["ingest", "--collection", "beside", "../beside"], "").success();
    let store = place.join("store/.mdsel.db");
    let watching = Watching::start(&place, &["--db", store.to_str().unwrap()]);
    watching.answers.recv_timeout(Duration::from_secs(20)).unwrap();
    std::fs::remove_dir_all(place.join("beside")).unwrap();
    let answer = watching.answers.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(answer["skipped"][0]["file"], "beside", "{answer}");
    place.write("beside/b.md", "# Two\n");
    place.write("beside/c.md", "# Three\n");
    watching.until([1, 0, 0]);
    place.write("beside/d.md", "# Four\n");
    watching.until([1, 0, 0]);
}

#[test]
fn the_store_follows_every_change_of_the_files() {
    let place = Place::with(&[("a.md", "# One\n"), (".gitignore", "skipped.md\n")]);
    std::fs::create_dir(place.join("out")).unwrap();
    let watching = Watching::start(&place, &[]);
    watching.until([1, 0, 0]);
    // Editors write a temporary file and rename it.
    std::fs::write(place.join("b.md.part"), "# Two\n").unwrap();
    std::fs::rename(place.join("b.md.part"), place.join("b.md")).unwrap();
    watching.until([1, 0, 0]);
    place.run(&["read", "b.md", "Two"]).success();
    std::fs::write(place.join("a.md"), "# Changed\n").unwrap();
    watching.until([0, 1, 0]);
    std::fs::create_dir_all(place.join("new/below")).unwrap();
    std::fs::write(place.join("new/below/c.md"), "# Three\n").unwrap();
    watching.until([1, 0, 0]);
    // Files that are not ingested cause nothing. A removed folder and a changed ignore file cause
    // an ingest.
    std::fs::write(place.join("skipped.md"), "# No\n").unwrap();
    std::fs::write(place.join("out/program.o"), "no").unwrap();
    std::fs::rename(place.join("new"), place.join("out/new")).unwrap();
    watching.until([1, 0, 1]);
    std::fs::rename(place.join("out/new"), place.join("out/v1.2")).unwrap();
    watching.until([1, 0, 1]);
    let outside = tempfile::tempdir().unwrap();
    std::fs::rename(place.join("out/v1.2"), outside.path().join("v1.2")).unwrap();
    watching.until([0, 0, 1]);
    std::fs::remove_file(place.join(".gitignore")).unwrap();
    watching.until([1, 0, 0]);
    // A document whose name begins like that of the store is ingested.
    std::fs::write(place.join(".mdsel.db.md"), "hidden").unwrap();
    // An edit by mdsel needs no ingest, and nothing else has changed.
    place.run(&["replace", "b.md", "Two", "--content", "text"]).success();
    let answer = watching.answers.recv_timeout(Duration::from_secs(1));
    assert!(answer.is_err(), "{answer:?}");
    place.run(&["ingest", "--check"]).success();
}

#[test]
fn watch_ends_if_nobody_reads_its_output() {
    let place = Place::with(&[("a.md", "# One\n")]);
    let mut child = Command::new(PROGRAM)
        .args(["ingest", "--watch"])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    let began = Instant::now();
    for number in 0.. {
        std::fs::write(place.join("a.md"), format!("# {number}\n")).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "it still runs");
    }
    assert_eq!(place.run(&["ingest", "--watch", "--check"]).ends(2).code(), "USAGE");
}
