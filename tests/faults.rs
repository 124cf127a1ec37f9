//! What happens if the system refuses an operation, and with other processes: full disks, read-only
//! media, failing system calls, concurrent writers, and readers during a write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Answer, PROGRAM, Place, copy, repeats};
use crate::help;
use crate::library::{
    self, Versions, assert_agrees, assert_no_leftovers, hits, lines, of_files, of_pack, of_store,
    path,
};

const DOCUMENTS: usize = 12;

/// The commands that write: name, arguments, and what is stored afterwards.
fn writers() -> [(&'static str, Vec<String>, Versions); 4] {
    let first: Versions = vec![Some(1); DOCUMENTS];
    let second: Versions = vec![Some(2); DOCUMENTS];
    let mut edited = first.clone();
    edited[5] = Some(2);
    let content = library::document(5, 2);
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    [
        ("ingest", words(&["ingest"]), second.clone()),
        ("edit", words(&["replace", &path(5), "@1", "--content", &content]), edited),
        ("load", words(&["load", "a.pack", "--strategy", "overwrite"]), second),
        ("rebuild", words(&["search", "line"]), first),
    ]
}

/// A store of version 1 of all documents, and what the command needs to change it.
fn prepared(name: &str) -> Place {
    let place = Place::in_memory();
    let first: Versions = vec![Some(1); DOCUMENTS];
    let second: Versions = vec![Some(2); DOCUMENTS];
    library::write(&place, &first);
    place.run(&["ingest"]).success();
    std::fs::write(place.join("a.pack"), library::pack(&second)).unwrap();
    match name {
        "ingest" => library::write(&place, &second),
        "rebuild" => std::fs::remove_dir_all(place.join(".mdsel.db-fts")).unwrap(),
        _ => {}
    }
    place
}

/// Asserts what must be true after a command that may have failed: every document is complete, what
/// was acknowledged is stored, and the next commands answer and recover the store.
///
/// `is_partial` says that files may have been skipped. `has_many` says that documents may also have
/// been removed, because a file looked deleted.
fn assert_recovered(
    place: &Place,
    name: &str,
    after: &Versions,
    is_acknowledged: bool,
    is_partial: bool,
    has_many: bool,
) {
    let first: Versions = vec![Some(1); DOCUMENTS];
    let answer = place.run(&["search", "-F", "line", "--limit", "0"]);
    assert_eq!(answer.status, 0, "{name}: {}{}", answer.text(), answer.stderr);
    let stored = of_store(place, DOCUMENTS);
    if is_partial {
        let mut all = stored.iter().zip(first.iter().zip(after));
        let is_whole = |(one, (first, after)): (&Option<u64>, (&Option<u64>, &Option<u64>))| {
            one == first || one == after || has_many && one.is_none()
        };
        assert!(all.all(is_whole), "{stored:?}");
    } else {
        assert!(stored == first || stored == *after, "{name}: {stored:?}");
        assert!(stored == *after || !is_acknowledged, "{name}: an acknowledged change is lost");
    }
    if name == "edit" {
        assert_eq!(stored, of_files(place, DOCUMENTS));
    }
    assert_agrees(place, &stored, &[&first, after]);
    place.run(&["ingest"]).success();
    assert_eq!(of_store(place, DOCUMENTS), of_files(place, DOCUMENTS), "{name}");
    assert_agrees(place, &of_files(place, DOCUMENTS), &[&first, after]);
    assert_no_leftovers(place);
    place.assert_in_step();
}

/// Runs a test of this file as a user who may mount file systems. Returns whether this process is
/// that one.
fn may_mount(test: &str) -> bool {
    if std::env::var_os("MDSEL_MAY_MOUNT").is_some() {
        return true;
    }
    let unshared = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-Urm", "--"]).args(arguments).env("MDSEL_MAY_MOUNT", "1");
        command
    };
    let can = unshared(&["mount", "-t", "tmpfs", "tmpfs", "/mnt"]).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        eprintln!("skipped: this user cannot mount a file system");
        return false;
    }
    let program = std::env::current_exe().unwrap();
    let name = format!("faults::{test}");
    let inside = unshared(&[program.to_str().unwrap(), "--exact", &name, "--nocapture"]).status();
    assert!(inside.unwrap().success());
    false
}

fn mount(arguments: &[&str], at: &Path) {
    assert!(Command::new("mount").args(arguments).arg(at).status().unwrap().success());
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    if !may_mount("a_full_disk_is_reported_and_loses_nothing") {
        return;
    }
    let disk = Place::new();
    let mut outcomes = Vec::new();
    for (name, command, after) in writers() {
        let template = prepared(name);
        let mut refused = 0;
        let steps = usize::try_from(repeats(4).min(100)).unwrap();
        // From a full disk to one with enough room.
        for free in (0..=steps).map(|step| (step << 17) / steps) {
            mount(&["-t", "tmpfs", "-o", "size=16m", "tmpfs"], disk.path());
            copy(template.path(), disk.path());
            let left = free_bytes(disk.path());
            let ballast = vec![0; left.saturating_sub(free)];
            std::fs::write(disk.join("ballast"), ballast).unwrap();
            let command: Vec<&str> = command.iter().map(String::as_str).collect();
            let answer = disk.run(&command);
            let is_acknowledged = answer.status == 0 && name != "rebuild";
            if answer.status != 0 {
                refused += 1;
                assert_eq!(answer.ends(2).code(), "IO", "{name} with {free} bytes free");
                let is_edited = name == "edit" && of_files(&disk, DOCUMENTS)[5] == Some(2);
                assert!(!is_edited, "the file was changed, but the answer is an error");
            }
            // Queries are answered on a full disk, too.
            let answer = disk.run(&["search", "-F", "line", "--limit", "0"]);
            assert_eq!(answer.status, 0, "{name}: {}{}", answer.text(), answer.stderr);
            let checked = disk.run(&["verify"]);
            assert!(checked.status < 2, "{name}: {}{}", checked.text(), checked.stderr);
            let stored = of_pack(&disk.run(&["dump"]).success().stdout, DOCUMENTS);
            assert!(stored.iter().zip(&after).all(|(one, after)| *one == Some(1) || one == after));
            drop(of_files(&disk, DOCUMENTS));
            disk.remove("ballast");
            assert_recovered(&disk, name, &after, is_acknowledged, false, false);
            assert!(Command::new("umount").arg(disk.path()).status().unwrap().success());
        }
        outcomes.push(format!("{name}: {refused} of {} refused", steps + 1));
    }
    eprintln!("full disks: {}", outcomes.join(", "));
}

#[test]
fn a_store_file_alone_is_read_on_a_full_disk() {
    if !may_mount("a_store_file_alone_is_read_on_a_full_disk") {
        return;
    }
    let (disk, place) = (Place::new(), Place::with_fixtures());
    mount(&["-t", "tmpfs", "-o", "size=16m", "tmpfs"], disk.path());
    std::fs::copy(place.join(".mdsel.db"), disk.join(".mdsel.db")).unwrap();
    std::fs::write(disk.join("ballast"), vec![0; free_bytes(disk.path())]).unwrap();
    let expected = place.run(&["dump"]).success().stdout;
    assert!(disk.run(&["dump"]).success().stdout == expected);
    assert!(Command::new("umount").arg(disk.path()).status().unwrap().success());
}

/// Bytes that are free in the file system at `path`.
fn free_bytes(path: &Path) -> usize {
    let state = rustix::fs::statvfs(path).unwrap();
    usize::try_from(state.f_bavail * state.f_frsize).unwrap()
}

/// The files below a folder, without those of the store.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            files
                .extend(files_below(&path).into_iter().map(|(path, text)| (name.join(path), text)));
        } else {
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
    files.retain(|path, _| !path.starts_with(".mdsel.db-fts") && !path.starts_with(".config"));
    files.retain(|path, _| !path.to_str().unwrap().starts_with(".mdsel.db"));
    files
}

#[test]
fn an_answer_that_cannot_be_printed_is_an_error_and_no_edit_is_lost() {
    let template = Place::with_fixtures();
    let before = files_below(template.path());
    let batch = "{\"operation\":\"delete\",\"section\":\"FAQ & Notes\"}\n";
    let pack = template.run(&["dump"]).success().stdout;
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let mut commands = vec![
        words(&["edit", "guide.md", "--batch", "edits.jsonl"]),
        words(&["load", "a.pack", "--strategy", "overwrite"]),
    ];
    for command in help::commands(&template) {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let page = template.run(&[&command[..], &["--help"]].concat()).success().text();
        commands.extend(help::examples(&page).map(|example| example[1..].to_vec()));
    }
    let mut edits = 0;
    for command in &commands {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let run = |output: Stdio| {
            let place = Place::in_memory();
            copy(template.path(), place.path());
            std::fs::write(place.join("edits.jsonl"), batch).unwrap();
            std::fs::write(place.join("a.pack"), &pack).unwrap();
            let output = place.command("", &command).stdout(output).output().unwrap();
            let mut files = files_below(place.path());
            files.retain(|path, _| {
                !["edits.jsonl", "a.pack"].iter().any(|name| path.ends_with(name))
            });
            // What was changed is in the store, too.
            let check = place.run(&["ingest", "--check"]).text();
            (Answer::of(&command, output), files, check)
        };
        let (read, files, check) = run(Stdio::piped());
        let read = read.success();
        let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
            return eprintln!("skipped: /dev/full does not exist");
        };
        let (unprinted, unprinted_files, unprinted_check) = run(full.into());
        let unprinted = unprinted.ends(if read.stdout.is_empty() { 0 } else { 2 });
        let said = &unprinted.stderr;
        assert_eq!(said.contains("standard output"), !read.stdout.is_empty(), "{command:?} {said}");
        let is_edit = files.iter().any(|(path, text)| before.get(path) != Some(text))
            && !["code", "load"].contains(&command[0]);
        assert_eq!(said.contains("the files were changed"), is_edit, "{command:?} {said}");
        edits += usize::from(is_edit);
        assert!(unprinted_files == files, "{command:?}");
        assert_eq!(unprinted_check, check, "{command:?}");
        // Nobody reads a closed pipe, and that is no error.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (unread, unread_files, unread_check) = run(writer.into());
        assert!(!unread.success().stderr.contains("mdsel: "), "{command:?}");
        assert!(unread_files == files, "{command:?}");
        assert_eq!(unread_check, check, "{command:?}");
    }
    assert!(commands.len() >= 30 && edits >= 5, "{edits} of {}", commands.len());
}

#[test]
fn a_copy_made_during_edits_has_whole_documents() {
    let place = Place::in_memory();
    library::write(&place, &vec![Some(1); DOCUMENTS]);
    place.run(&["ingest"]).success();
    let is_over = AtomicBool::new(false);
    let copies: Vec<_> = std::thread::scope(|scope| {
        scope.spawn(|| {
            for (version, number) in (2..).flat_map(|v| (0..DOCUMENTS).map(move |n| (v, n))) {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let content = library::document(number, version);
                place.run(&["replace", &path(number), "@1", "--content", &content]).success();
            }
        });
        let copies = (0..repeats(10))
            .map(|number| {
                let copied = Place::in_memory();
                let before = of_files(&place, DOCUMENTS);
                let entries = std::fs::read_dir(place.path()).unwrap();
                let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
                paths.sort();
                let at = usize::try_from(number).unwrap() % paths.len();
                paths.rotate_left(at);
                // A large store is copied slowly, and each of its files at another time. One that is removed
                // meanwhile is not in the copy.
                for path in &paths {
                    Command::new("cp").arg("-r").arg(path).arg(copied.path()).output().ok();
                    std::thread::sleep(Duration::from_millis(3 * (number % 7)));
                }
                (copied, before, of_files(&place, DOCUMENTS))
            })
            .collect();
        is_over.store(true, Ordering::Relaxed);
        copies
    });
    let mut outcomes = (0, 0);
    for (copied, before, after) in copies {
        let is_between = |versions: &Versions| {
            let mut all = versions.iter().zip(before.iter().zip(&after));
            all.all(|(one, (before, after))| before <= one && one <= after)
        };
        assert!(is_between(&of_files(&copied, DOCUMENTS)));
        let dump = copied.run(&["dump"]);
        if dump.status == 0 {
            let stored = of_pack(&dump.stdout, DOCUMENTS);
            assert!(stored.iter().zip(&after).all(|(one, after)| one.is_some() && one <= after));
            outcomes.0 += 1;
        } else {
            assert!(dump.stderr.contains("mdsel verify --repair"), "{}", dump.stderr);
            outcomes.1 += 1;
        }
        copied.run(&["verify", "--repair"]).success();
        copied.run(&["ingest"]).success();
        let files = of_files(&copied, DOCUMENTS);
        assert!(is_between(&files), "{files:?}");
        assert_eq!(of_store(&copied, DOCUMENTS), files);
        assert_agrees(&copied, &files, &[&before, &after]);
        assert_no_leftovers(&copied);
        copied.assert_in_step();
    }
    eprintln!(
        "copies during edits: {} answered, {} were found to be damaged",
        outcomes.0, outcomes.1
    );
    place.assert_in_step();
}

#[test]
fn read_only_media_can_be_read_and_refuse_writes() {
    if !may_mount("read_only_media_can_be_read_and_refuse_writes") {
        return;
    }
    let disk = Place::new();
    for (name, command, after) in writers() {
        mount(&["-t", "tmpfs", "tmpfs"], disk.path());
        copy(prepared(name).path(), disk.path());
        mount(&["-o", "remount,ro"], disk.path());
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let answer = disk.run(&command);
        if name == "rebuild" {
            assert_eq!(answer.success().json()["warnings"][0]["code"], "INDEX_UNUSABLE");
        } else {
            assert_eq!(answer.ends(2).code(), "READ_ONLY", "{name}");
        }
        let first: Versions = vec![Some(1); DOCUMENTS];
        let answer = disk.run(&["search", "-F", "line", "--limit", "0"]).success().json();
        assert_eq!(hits(&answer).len(), DOCUMENTS * 4);
        assert_eq!(of_store(&disk, DOCUMENTS), first);
        mount(&["-o", "remount,rw"], disk.path());
        assert_recovered(&disk, name, &after, false, false, false);
        assert!(Command::new("umount").arg(disk.path()).status().unwrap().success());
    }
}

#[test]
fn readers_during_a_write_see_one_version_of_all_documents() {
    let place = Place::in_memory();
    library::write(&place, &vec![Some(1); DOCUMENTS]);
    place.run(&["ingest"]).success();
    let seconds = Duration::from_secs(repeats(3).min(60));
    let is_over = AtomicBool::new(false);
    let (answers, versions) = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|reader| {
                let (place, is_over) = (&place, &is_over);
                scope.spawn(move || {
                    let mut answers = 0u64;
                    let mut last = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let version = match (answers + reader) % 4 {
                            0 => of_one(&of_store(place, DOCUMENTS)),
                            1 => version_in_answer(
                                place,
                                &["search", "-F", "line", "--limit", "0"],
                                false,
                            ),
                            2 => version_in_answer(
                                place,
                                &["search", "line", "--limit", "0", "--keep-duplicates"],
                                true,
                            ),
                            _ => version_in_answer(
                                place,
                                &["search", "-e", "q[a-z]+x line", "--limit", "0"],
                                false,
                            ),
                        };
                        // A reader never sees an older version again.
                        assert!(version >= last, "{version} after {last}");
                        last = version;
                        answers += 1;
                    }
                    answers
                })
            })
            .collect();
        let began = Instant::now();
        let mut version = 1;
        while began.elapsed() < seconds {
            version += 1;
            library::write(&place, &vec![Some(version); DOCUMENTS]);
            place.run(&["ingest", "--wait", "20"]).success();
        }
        is_over.store(true, Ordering::Relaxed);
        (readers.into_iter().map(|reader| reader.join().unwrap()).sum::<u64>(), version)
    });
    eprintln!("readers: {answers} answers during {versions} ingests, none mixes two versions");
    assert!(answers > 3 && versions > 3);
    place.assert_in_step();
}

/// The version of all documents, which must be the same.
fn of_one(versions: &Versions) -> u64 {
    assert!(
        versions.iter().all(|version| version.is_some() && *version == versions[0]),
        "{versions:?}"
    );
    versions[0].unwrap()
}

/// The version of the lines of an answer: all lines that contain "line", or one of each section.
fn version_in_answer(place: &Place, question: &[&str], is_ranked: bool) -> u64 {
    let answer = place.run(question).success().json();
    let found = hits(&answer);
    let (_, _, text) = found.first().unwrap_or_else(|| panic!("{answer}"));
    let version = library::version_of_line(text).unwrap();
    let all = lines(&vec![Some(version); DOCUMENTS]);
    let expected = all.into_iter().filter(|(_, _, text)| text.contains(" line")).collect();
    if is_ranked {
        assert!(found.is_subset(&expected), "{answer}");
        assert_eq!(found.len(), 2 * DOCUMENTS, "{answer}");
    } else {
        assert_eq!(found, expected);
    }
    version
}

#[test]
fn concurrent_writers_wait_for_each_other() {
    let place = Place::in_memory();
    let half = DOCUMENTS / 2;
    library::write(&place, &vec![Some(1); DOCUMENTS]);
    place.run(&["ingest"]).success();
    let rounds = repeats(12);
    std::thread::scope(|scope| {
        // One thread edits the first half of the documents, one changes the files of the second
        // half and ingests them, and one ingests everything.
        scope.spawn(|| {
            for version in 2..2 + rounds {
                for number in 0..half {
                    let content = library::document(number, version);
                    let edit =
                        ["replace", &path(number), "@1", "--content", &content, "--wait", "30"];
                    assert_eq!(place.run(&edit).success().json()["success"], true);
                }
            }
        });
        scope.spawn(|| {
            for version in 2..2 + rounds {
                for number in half..DOCUMENTS {
                    // As editors save: no reader sees half of a file.
                    let new = place.join("new");
                    std::fs::write(&new, library::document(number, version)).unwrap();
                    std::fs::rename(&new, place.join(&path(number))).unwrap();
                }
                place.run(&["ingest", "folder-1", "--wait", "30"]).success();
            }
        });
        scope.spawn(|| {
            for _ in 0..rounds {
                place.run(&["ingest", "--wait", "30"]).success();
            }
        });
    });
    place.run(&["ingest"]).success();
    let expected: Versions = vec![Some(1 + rounds); DOCUMENTS];
    assert_eq!(of_store(&place, DOCUMENTS), expected);
    assert_agrees(&place, &expected, &[&vec![Some(rounds); DOCUMENTS]]);
    place.assert_in_step();
}

/// Whether a program is installed.
fn has(program: &str) -> bool {
    let has = Command::new(program).arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if has.is_err() {
        eprintln!("skipped: {program} is not installed");
    }
    has.is_ok()
}

/// Runs a command under a program that makes system calls fail. Asserts that it fails as it should
/// and loses nothing. Returns its status. `has_many` says that any number of different calls may
/// fail.
fn with_faults(
    template: &Place,
    below: &[&str],
    name: &str,
    command: &[String],
    after: &Versions,
    has_many: bool,
) -> Option<i32> {
    let place = Place::in_memory();
    copy(template.path(), place.path());
    let output = Command::new(below[0])
        .args(&below[1..])
        .arg(PROGRAM)
        .args(command)
        .current_dir(place.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let status = output.status.code();
    // A command that cannot even start ends with 127. One that cannot print its error may end with
    // 101.
    assert!(matches!(status, Some(0 | 2 | 101 | 127)), "{below:?} {name}: {output:?}");
    let said = serde_json::from_slice::<Value>(&output.stdout);
    let is_acknowledged =
        status == Some(0) && said.as_ref().is_ok_and(|said| said.get("hits").is_none());
    // A user who gets an error repeats the edit, so the error must say that the file was changed.
    let text = String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat())
        .into_owned();
    if name == "edit"
        && status == Some(2)
        && !text.is_empty()
        && of_files(&place, DOCUMENTS)[5] == Some(2)
    {
        assert!(text.contains("the file was changed"), "{below:?}: {text}");
    }
    // A file that could not be read is reported, and its document stays as it was.
    let is_reported = match &said {
        Ok(said) => said["skipped"][0].is_object(),
        Err(_) => name == "ingest",
    };
    // A document whose file looks deleted is removed. A command that fails again after its commit
    // has reported neither.
    let has_many = has_many
        && name == "ingest"
        && said.is_ok_and(|said| said["error"].is_object() || said["removed"].as_u64() > Some(0));
    assert_recovered(&place, name, after, is_acknowledged, is_reported || has_many, has_many);
    status
}

/// System calls that write, or that make writes durable.
const CALLS: [&str; 8] = [
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "openat",
    "rename,renameat",
    "ftruncate",
    "unlink,unlinkat",
];

#[test]
fn a_failure_of_the_nth_system_call_loses_nothing() {
    if !has("strace") {
        return;
    }
    // The long form tests every call of every command, the short form some calls of some commands.
    let step = usize::try_from(23 / repeats(1)).unwrap().max(1);
    let mut count = [0; 2];
    for (name, command, after) in writers() {
        if repeats(1) == 1 && !["ingest", "edit"].contains(&name) {
            continue;
        }
        let template = prepared(name);
        for call in CALLS {
            for mode in ["", "+"] {
                for nth in (1..).step_by(step) {
                    let log = template.join("calls");
                    let inject = format!("--inject={call}:error=EIO:when={nth}{mode}");
                    let trace = format!("--trace={call}");
                    let log_path = log.to_str().unwrap();
                    let below = ["strace", "-f", "--seccomp-bpf", "-o", log_path, &trace, &inject];
                    let status = with_faults(&template, &below, name, &command, &after, false);
                    if !std::fs::read_to_string(&log).unwrap().contains("(INJECTED)") {
                        break;
                    }
                    count[usize::from(status == Some(0))] += 1;
                }
            }
        }
    }
    eprintln!("n-th call: {} commands failed, {} succeeded, nothing lost", count[0], count[1]);
}

#[test]
fn random_failures_of_system_calls_lose_nothing() {
    if !has("fiu-run") {
        return;
    }
    // Not `close`: the file would stay open and locked, which no real system does.
    let below = [
        "fiu-run",
        "-x",
        "-f",
        "",
        "-c",
        "enable_random name=posix/io/rw/*,probability=0.004",
        "-c",
        "enable_random name=posix/io/sync/*,probability=0.03",
        "-c",
        "enable_random name=posix/io/oc/open,probability=0.004",
    ];
    let mut count = [0; 2];
    for (name, command, after) in writers() {
        let template = prepared(name);
        for _ in 0..repeats(4) {
            let status = with_faults(&template, &below, name, &command, &after, true);
            count[usize::from(status == Some(0))] += 1;
        }
    }
    eprintln!("random calls: {} commands failed, {} succeeded, nothing lost", count[0], count[1]);
}

#[test]
fn too_few_open_files_never_make_an_incomplete_store() {
    let mut ends = Vec::new();
    for limit in 6..30 {
        let place = Place::new();
        copy(&crate::harness::fixtures(), place.path());
        let answer = place.run_limited(&format!("-n {limit}"), &["ingest"]);
        ends.push(answer.status);
        if answer.status == 0 {
            let skipped = answer.json()["skipped"].to_string();
            assert!(!skipped.contains("open files"), "{limit}: {skipped}");
        } else {
            assert_eq!(answer.code(), "IO", "{limit}: {}", answer.text());
        }
    }
    assert!(ends.contains(&0) && ends.iter().any(|end| *end != 0), "{ends:?}");
}

#[test]
fn too_few_open_files_are_not_taken_for_a_log_that_cannot_be_read() {
    let place = Place::new();
    copy(&crate::harness::fixtures(), place.path());
    place.run(&["ingest"]).success();
    // A connection that is not closed leaves its log.
    let connection = rusqlite::Connection::open(place.join(".mdsel.db")).unwrap();
    connection.execute_batch("CREATE TABLE extra (x); DROP TABLE extra;").unwrap();
    let mut ends = Vec::new();
    for limit in 4..20 {
        let answer = place.run_limited(&format!("-n {limit}"), &["read", "guide.md", "Install"]);
        ends.push(answer.status);
        if answer.status != 0 {
            assert_eq!(answer.code(), "IO", "{limit}: {}", answer.text());
        }
    }
    assert!(ends.contains(&0) && ends.iter().any(|end| *end != 0), "{ends:?}");
}

#[test]
fn without_threads_every_reader_answers_and_the_next_ingest_completes_the_index() {
    let place = Place::new();
    copy(&crate::harness::fixtures(), place.path());
    let without = |arguments: &[&str]| {
        // No thread gets a stack of this size.
        let output =
            place.command("", arguments).env("RUST_MIN_STACK", "100000000000000").output().unwrap();
        crate::harness::Answer::of(arguments, output)
    };
    let ingested = without(&["ingest"]).success().json();
    assert!(ingested["added"].as_u64() > Some(10), "{ingested}");
    place.run(&["ingest"]).success();
    place.assert_in_step();
    for arguments in [
        &["search", "-F", "the", "--limit", "0"][..],
        &["search", "install", "guide"],
        &["toc", "--limit", "0"],
        &["find", "guide"],
        &["links", "check"],
        &["verify"],
    ] {
        let expected = place.run(arguments);
        let answer = without(arguments).ends(expected.status);
        assert_eq!(answer.stdout, expected.stdout, "{arguments:?}");
    }
}
