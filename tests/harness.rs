//! A temporary folder with files and a store, in which the program runs without environment.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use mdsel::error::Result;
use mdsel::ingest::{self, NoProgress, OptionChanges, Paths};
use mdsel::query::FilterRequest;
use mdsel::query::search::{
    ContextLines, HitDetail, OutputMode, PassageChars, Query, SearchRequest,
};
use mdsel::store::{Memory, Purpose, Reader, Store};
use mdsel::trust::Trust;
use serde_json::Value;
use tempfile::TempDir;

/// The program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_mdsel");

/// The documents of `fixtures/`.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents")
}

/// A temporary folder, removed on drop.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        // The program prints resolved paths, and the folder for temporary files is a symbolic link on macOS.
        let parent = std::env::temp_dir().canonicalize().unwrap();
        Self { folder: TempDir::new_in(parent).unwrap() }
    }

    /// An empty folder in memory if possible, which is faster. A killed process leaves the same
    /// files there as on a disk.
    pub(crate) fn in_memory() -> Self {
        TempDir::new_in("/dev/shm").map_or_else(|_| Self::new(), |folder| Self { folder })
    }

    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    /// A folder with these files, ingested.
    pub(crate) fn ingested(files: &[(&str, &str)]) -> Self {
        let place = Self::with(files);
        place.run(&["ingest"]).success();
        place
    }

    /// A folder with the documents of `fixtures/`, ingested.
    pub(crate) fn with_fixtures() -> Self {
        let place = Self::new();
        copy(&fixtures(), place.path());
        place.run(&["ingest"]).success();
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file and creates its folders. The modification time is an hour ago.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        age(&path, 3600);
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.join(path)).unwrap();
    }

    #[must_use = "check the exit status"]
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        self.run_in("", arguments, "")
    }

    /// Runs the program in a folder below, with standard input.
    #[must_use = "check the exit status"]
    pub(crate) fn run_in(&self, folder: &str, arguments: &[&str], input: &str) -> Answer {
        let mut child = self.command(folder, arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Answer::of(arguments, child.wait_with_output().unwrap())
    }

    /// Runs the program after a limit of the shell: `-f 200` fills the disk when a file has 200 blocks of 512 bytes,
    /// `-n 20` allows 20 open files, `-t 20` allows 20 seconds of processor time.
    #[must_use = "check the exit status"]
    pub(crate) fn run_limited(&self, limit: &str, arguments: &[&str]) -> Answer {
        let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, PROGRAM]).args(arguments);
        let output = command.current_dir(self.path()).env_clear().output().unwrap();
        Answer::of(arguments, output)
    }

    /// The program, to be run in a folder below, without standard input.
    pub(crate) fn command(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .current_dir(self.join(folder))
            .env_clear()
            .env("HOME", self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program and kills it after `moment` unless it has ended. Returns its output, and
    /// whether it had ended with success.
    pub(crate) fn kill(&self, arguments: &[&str], moment: Duration) -> (Vec<u8>, bool) {
        let mut child = self.command("", arguments).spawn().unwrap();
        std::thread::sleep(moment);
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        (output.stdout, output.status.success())
    }

    /// Asserts that the store is equal to that of a fresh ingest of the same files.
    pub(crate) fn assert_in_step(&self) {
        let fresh = Self::in_memory();
        copy(self.path(), fresh.path());
        for entry in std::fs::read_dir(fresh.path()).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_str().unwrap().starts_with(".mdsel.db") {
                let path = entry.path();
                let is_folder = path.is_dir();
                if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
                    .unwrap();
            }
        }
        fresh.run(&["ingest"]).success();
        assert!(self.run(&["dump"]).success().stdout == fresh.run(&["dump"]).success().stdout);
        let check = self.run(&["ingest", "--check"]).success().json();
        assert_eq!(check["findings"], Value::Array(Vec::new()));
    }
}

/// The number of repetitions of a random test: `few`, times `MDSEL_SOAK` if it is set.
pub(crate) fn repeats(few: u64) -> u64 {
    std::env::var("MDSEL_SOAK").ok().and_then(|soak| soak.parse::<u64>().ok()).unwrap_or(1) * few
}

/// Sets the time of a file to `seconds` ago.
pub(crate) fn age(path: &Path, seconds: u64) {
    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Copies a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
            age(&target, 3600);
        }
    }
}

/// The output and the exit status of the program.
pub(crate) struct Answer {
    arguments: Vec<String>,
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Answer {
    pub(crate) fn of(arguments: &[&str], output: Output) -> Self {
        Self {
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            status: output.status.code().unwrap(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts the exit status.
    pub(crate) fn ends(self, status: i32) -> Self {
        assert_eq!(
            self.status,
            status,
            "mdsel {}\n{}\n{}",
            self.arguments.join(" "),
            self.text(),
            self.stderr
        );
        self
    }

    pub(crate) fn success(self) -> Self {
        self.ends(0)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    /// The JSON answer, which has the form that its schema says.
    pub(crate) fn json(&self) -> Value {
        let command = || self.arguments.join(" ");
        let answer = serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("mdsel {}: {error}: {}", command(), self.text()));
        if let Err(error) = crate::schema::validate(&self.arguments, &answer) {
            panic!("mdsel {}: {error}", command());
        }
        answer
    }

    /// The code of the error, or of the first address without an answer.
    pub(crate) fn code(&self) -> String {
        let json = self.json();
        let code = match json.get("error") {
            Some(error) => &error["code"],
            None => &json["unresolved_selectors"][0]["code"],
        };
        code.as_str().unwrap_or_default().to_owned()
    }
}

/// The `selector` of each item of a list in an answer.
pub(crate) fn selectors(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["selector"].as_str().unwrap()).collect()
}

/// The words of a command, as a shell splits it: blanks in single quotes do not separate words, and `'\''` is a quote.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let command = command.replace(r"'\''", "\0");
    for (index, part) in command.split('\'').enumerate() {
        let is_quoted = index % 2 == 1;
        for (index, piece) in part.split(|c| c == ' ' && !is_quoted).enumerate() {
            if index > 0 {
                words.push(String::new());
            }
            words.last_mut().unwrap().push_str(&piece.replace('\0', "'"));
        }
    }
    words
}

/// A search without filters, context lines and cursor; `limit` 0 means all hits.
pub(crate) fn search_request(query: Query, limit: usize) -> SearchRequest {
    SearchRequest {
        query,
        filter: FilterRequest::default(),
        form: OutputMode::Hits,
        surroundings: ContextLines::default(),
        passage: PassageChars::all(300),
        keeps_duplicates: false,
        detail: HitDetail::Addresses,
        explain: false,
        limit: Some(limit),
        max_chars: None,
        after: None,
    }
}

/// The store at `path`, which asks for no trust.
pub(crate) fn store(path: &Path) -> Store {
    Store::at(path, Trust::File(None)).unwrap()
}

/// A new store in memory.
pub(crate) fn in_memory() -> Store {
    Store::new(Box::new(Memory::default()), Trust::File(None))
}

/// Opens the store at `path` for searches.
pub(crate) fn reader(path: &Path) -> Result<Box<dyn Reader>> {
    store(path).reader(Purpose::Search)
}

/// Runs `sql` in the store file, which checks no foreign keys.
pub(crate) fn tampered(place: &Place, sql: &str) {
    let store = rusqlite::Connection::open(place.join(".mdsel.db")).unwrap();
    store.pragma_update(None, "foreign_keys", false).unwrap();
    store.execute_batch(sql).unwrap();
}

/// Ingests the folder `root` into `store`.
pub(crate) fn ingest(store: &Store, root: &Path) -> ingest::IngestReport {
    let request = ingest::IngestRequest {
        store,
        root: Some(root),
        folder: root,
        collection: None,
        paths: Paths::All,
        options: OptionChanges::default(),
        force: false,
        shard: None,
        // A process that another test starts has a copy of the lock until it runs its program.
        wait: Duration::from_mins(1),
    };
    ingest::run(&request, &NoProgress).unwrap()
}
