//! Stores on a PostgreSQL server. `MDSEL_POSTGRES` names a database, in which each test uses a schema of its
//! own. Without it these tests are skipped.

use mdsel::store::Store;

/// A schema on the server, dropped at the end of the test.
#[cfg(feature = "postgres")]
pub(crate) struct Schema {
    base: String,
    name: String,
}

/// Stands for a schema in a program without the feature.
#[cfg(not(feature = "postgres"))]
pub(crate) enum Schema {}

#[cfg(not(feature = "postgres"))]
impl Schema {
    pub(crate) fn new() -> Option<Self> {
        eprintln!("skipped: stores on a server need the feature postgres");
        None
    }

    pub(crate) fn store(&self) -> Store {
        match *self {}
    }
}

#[cfg(feature = "postgres")]
impl Schema {
    /// Returns a new schema; `None` if there is no server.
    pub(crate) fn new() -> Option<Self> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let Some(base) = std::env::var("MDSEL_POSTGRES").ok().filter(|base| !base.is_empty())
        else {
            eprintln!("skipped: MDSEL_POSTGRES names no server");
            return None;
        };
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(Self { base, name: format!("mdsel_test_{}_{count}", std::process::id()) })
    }

    /// The address of the store in the schema.
    pub(crate) fn url(&self) -> String {
        let separator = if self.base.contains('?') { '&' } else { '?' };
        format!("{}{separator}schema={}", self.base, self.name)
    }

    /// The store in the schema.
    pub(crate) fn store(&self) -> Store {
        let address = mdsel::store::Address::parse(&self.url(), &|name| std::env::var(name).ok());
        let engine = mdsel::store::Postgres::new(address.unwrap(), None);
        Store::new(Box::new(engine), mdsel::trust::Trust::File(None))
    }

    /// A connection to the server, outside of mdsel.
    pub(crate) fn client(&self) -> postgres::Client {
        postgres::Client::connect(&self.base, postgres::NoTls).unwrap()
    }
}

#[cfg(feature = "postgres")]
impl Drop for Schema {
    fn drop(&mut self) {
        let statement = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name);
        drop(self.client().batch_execute(&statement));
    }
}

/// A server of its own, for tests that end it. `MDSEL_POSTGRES_BIN` names the folder of its programs.
#[cfg(feature = "postgres")]
pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    programs: std::path::PathBuf,
    port: u16,
}

#[cfg(feature = "postgres")]
impl Cluster {
    /// Starts a server; `None` if there are no programs.
    pub(crate) fn new() -> Option<Self> {
        let programs = std::env::var_os("MDSEL_POSTGRES_BIN").filter(|name| !name.is_empty());
        let Some(programs) = programs else {
            eprintln!("skipped: MDSEL_POSTGRES_BIN names no programs of a server");
            return None;
        };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = Self { folder, programs: programs.into(), port };
        if is_root() {
            let folder = cluster.folder.path().to_str().unwrap().to_owned();
            assert!(
                std::process::Command::new("chown")
                    .args(["postgres", &folder])
                    .status()
                    .unwrap()
                    .success()
            );
        }
        let data = cluster.data();
        let encoding = ["-A", "trust", "-U", "postgres", "-E", "UTF8"];
        assert!(cluster.run("initdb", &[&["-D", &data], &encoding[..]].concat()));
        cluster.start();
        let folder = cluster.folder.path().to_str().unwrap().to_owned();
        let port = cluster.port.to_string();
        let names = ["-h", &folder, "-p", &port, "-U", "postgres", "mdsel"];
        assert!(cluster.run("createdb", &names));
        Some(cluster)
    }

    fn data(&self) -> String {
        self.folder.path().join("data").to_str().unwrap().to_owned()
    }

    /// Runs a program of the server as a user other than root.
    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = std::process::Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            std::process::Command::new(program)
        };
        let log = std::fs::File::create(self.folder.path().join("output")).unwrap();
        let command = command.args(arguments).current_dir(self.folder.path());
        command.stdout(log.try_clone().unwrap()).stderr(log).status().unwrap().success()
    }

    pub(crate) fn start(&mut self) {
        let folder = self.folder.path().to_str().unwrap();
        let options = format!("-p {} -k {folder} -c listen_addresses=127.0.0.1", self.port);
        let data = self.data();
        let arguments = ["-D", &data, "-w", "-o", &options, "start"];
        // Processes of a killed server keep its memory for a moment.
        let is_started = (0..100).any(|attempt| {
            std::thread::sleep(std::time::Duration::from_millis(if attempt == 0 {
                0
            } else {
                200
            }));
            self.run("pg_ctl", &arguments)
        });
        assert!(is_started);
    }

    /// Kills the server as a crash of the machine would, except that its files keep what was written.
    pub(crate) fn kill(&mut self) {
        let file = std::path::Path::new(&self.data()).join("postmaster.pid");
        let text = std::fs::read_to_string(file).unwrap();
        let id = text.lines().next().unwrap().to_owned();
        assert!(std::process::Command::new("kill").args(["-9", &id]).status().unwrap().success());
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/mdsel", self.port)
    }
}

#[cfg(feature = "postgres")]
impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.data();
        if std::path::Path::new(&data).join("postmaster.pid").exists() {
            let is_stopped = self.run("pg_ctl", &["-D", &data, "-m", "immediate", "stop"]);
            assert!(is_stopped || std::thread::panicking());
        }
    }
}

#[cfg(feature = "postgres")]
fn is_root() -> bool {
    let output = std::process::Command::new("id").arg("-u").output().unwrap();
    output.stdout == b"0\n"
}
