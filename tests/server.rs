//! Stores on a PostgreSQL server. `MDSEL_POSTGRES` names a database, in which each test uses a schema of its
//! own. Without it these tests are skipped, unless `MDSEL_REQUIRE_SERVER` is set, as `.ci/server` does.

use mdsel::store::Store;

/// Skips a test because there is no server. Fails if one is required.
fn skip<T>(reason: &str) -> Option<T> {
    assert!(std::env::var_os("MDSEL_REQUIRE_SERVER").is_none(), "{reason}");
    eprintln!("skipped: {reason}");
    None
}

/// A schema on the server, dropped at the end of the test.
#[cfg(feature = "postgres")]
pub(crate) struct Schema {
    base: String,
    name: String,
    /// The other servers that hold partitions.
    nodes: Vec<String>,
}

/// Stands for a schema in a program without the feature.
#[cfg(not(feature = "postgres"))]
pub(crate) enum Schema {}

#[cfg(not(feature = "postgres"))]
impl Schema {
    pub(crate) fn new() -> Option<Self> {
        skip("stores on a server need the feature postgres")
    }

    pub(crate) fn on_several() -> Option<Self> {
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
            return skip("MDSEL_POSTGRES names no server");
        };
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("mdsel_test_{}_{count}", std::process::id());
        Some(Self { base, name, nodes: Vec::new() })
    }

    /// Returns the name of the schema.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns a new schema whose last partitions are on the servers that `MDSEL_POSTGRES_NODES` names; `None`
    /// if there are none.
    pub(crate) fn on_several() -> Option<Self> {
        let nodes = std::env::var("MDSEL_POSTGRES_NODES").unwrap_or_default();
        let nodes: Vec<String> = nodes.split_whitespace().map(str::to_owned).collect();
        if nodes.is_empty() {
            return skip("MDSEL_POSTGRES_NODES names no servers");
        }
        let mut schema = Self::new()?;
        for (part, node) in (4 - nodes.len()..).zip(&nodes) {
            move_partition(&schema.base, &schema.name, part, node);
        }
        schema.nodes = nodes;
        Some(schema)
    }

    /// The address of the store in the schema.
    pub(crate) fn url(&self) -> String {
        url_of(&self.base, &self.name)
    }

    /// The store in the schema.
    pub(crate) fn store(&self) -> Store {
        store_at(&self.url())
    }

    /// Lets a server of partitions fail at the end of each transaction that makes such a change of a document, or no
    /// longer.
    pub(crate) fn fail_at_commit(&self, node: usize, change: Option<&str>) {
        let (schema, part) = (&self.name, 4 - self.nodes.len() + node);
        let mut client = postgres::Client::connect(&self.nodes[node], postgres::NoTls).unwrap();
        let statements = match change {
            Some(change) => format!(
                "CREATE FUNCTION {schema}.fail() RETURNS trigger LANGUAGE plpgsql AS \
                 'BEGIN RAISE EXCEPTION ''the server fails''; END'; \
                 CREATE CONSTRAINT TRIGGER fail AFTER {change} ON {schema}.document_{part} \
                 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION {schema}.fail()"
            ),
            None => format!("DROP FUNCTION {schema}.fail() CASCADE"),
        };
        client.batch_execute(&statements).unwrap();
    }

    /// The address of the schema on a server that holds a partition.
    pub(crate) fn url_of_node(&self, node: usize) -> String {
        url_of(&self.nodes[node], &self.name)
    }

    /// The address of the store for another user.
    pub(crate) fn url_as(&self, user: &str) -> String {
        self.url().replacen("postgres@", &format!("{user}@"), 1)
    }

    /// The address of the store on a pooler that leaves out the schema that a connection asks for.
    pub(crate) fn url_of_pooler(&self) -> String {
        let url = self.url();
        let (start, rest) = url.split_once('@').unwrap();
        let (server, rest) = rest.split_once('/').unwrap();
        let server = server.to_owned();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let mut client = client.unwrap();
                let mut server = std::net::TcpStream::connect(&server).unwrap();
                let (mut to_client, mut from_server) =
                    (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut from_server, &mut to_client));
                std::thread::spawn(move || {
                    let mut bytes = vec![0; 1 << 16];
                    while let Ok(length @ 1..) = std::io::Read::read(&mut client, &mut bytes) {
                        let asked = b"search_path=";
                        if let Some(at) =
                            bytes[..length].windows(asked.len()).position(|part| part == asked)
                        {
                            bytes[at..at + asked.len()].copy_from_slice(b"test.ignore=");
                        }
                        if std::io::Write::write_all(&mut server, &bytes[..length]).is_err() {
                            break;
                        }
                    }
                    drop(server.shutdown(std::net::Shutdown::Both));
                });
            }
        });
        format!("{start}@127.0.0.1:{port}/{rest}")
    }

    /// A connection to the server, outside of mdsel.
    pub(crate) fn client(&self) -> postgres::Client {
        postgres::Client::connect(&self.base, postgres::NoTls).unwrap()
    }
}

/// The address of the store in a schema of a database.
#[cfg(feature = "postgres")]
fn url_of(database: &str, schema: &str) -> String {
    let separator = if database.contains('?') { '&' } else { '?' };
    format!("{database}{separator}schema={schema}")
}

#[cfg(feature = "postgres")]
pub(crate) fn store_at(url: &str) -> Store {
    let address = mdsel::store::Address::parse(url, &|name| std::env::var(name).ok());
    let engine = mdsel::store::Postgres::new(address.unwrap(), None);
    Store::new(Box::new(engine), mdsel::trust::Trust::File(None))
}

/// Creates an empty store on both servers, and lets the second one hold a partition of the first, by the
/// statements of the reference.
#[cfg(feature = "postgres")]
pub(crate) fn move_partition(first: &str, schema: &str, partition: usize, second: &str) {
    // PostgreSQL refuses to create an extension twice at once, even if it may exist.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    for database in [first, second] {
        drop(
            store_at(&url_of(database, schema))
                .writer(mdsel::store::IfAbsent::Create, std::time::Duration::ZERO)
                .unwrap(),
        );
    }
    let page = include_str!("../src/reference/servers.md");
    let statements = page.split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    let port = second.rsplit(':').next().unwrap().split('/').next().unwrap();
    let mut statements = statements.to_owned();
    for (from, to) in [
        ("second.example.org", "127.0.0.1"),
        ("5432", port),
        ("notes", "mdsel"),
        ("second", &format!("{schema}_{partition}")),
        ("mdsel.", &format!("{schema}.")),
        ("ann", "postgres"),
        ("ARRAY[2]", &format!("ARRAY[{partition}]")),
    ] {
        assert!(statements.contains(from), "{from}");
        statements = statements.replace(from, to);
    }
    let _turn = ONE_AT_A_TIME.lock();
    let programs = std::env::var_os("MDSEL_POSTGRES_BIN").unwrap();
    let mut client = std::process::Command::new(std::path::Path::new(&programs).join("psql"))
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", first])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = client.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, statements.as_bytes()).unwrap();
    drop(input);
    assert!(client.wait().unwrap().success());
}

#[cfg(feature = "postgres")]
impl Drop for Schema {
    fn drop(&mut self) {
        let drop_schema = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name);
        drop(self.client().batch_execute(&drop_schema));
        for (part, node) in (4 - self.nodes.len()..).zip(&self.nodes) {
            let server = format!("DROP SERVER IF EXISTS {}_{part} CASCADE", self.name);
            drop(self.client().batch_execute(&server));
            if let Ok(mut client) = postgres::Client::connect(node, postgres::NoTls) {
                drop(client.batch_execute(&drop_schema));
            }
        }
    }
}

/// A server of its own, for tests that end it. `MDSEL_POSTGRES_BIN` names the folder of its programs.
#[cfg(feature = "postgres")]
pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    programs: std::path::PathBuf,
    port: u16,
    is_running: std::cell::Cell<bool>,
}

#[cfg(feature = "postgres")]
impl Cluster {
    /// Starts a server; `None` if there are no programs.
    pub(crate) fn new() -> Option<Self> {
        let cluster = Self::empty()?;
        let data = cluster.data();
        let encoding = ["-A", "trust", "-U", "postgres", "-E", "UTF8"];
        assert!(cluster.run("initdb", &[&["-D", &data], &encoding[..]].concat()));
        cluster.start();
        let port = cluster.port.to_string();
        let names = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "mdsel"];
        assert!(cluster.run("createdb", &names));
        Some(cluster)
    }

    /// Starts a server that repeats all changes of this one.
    pub(crate) fn replica(&self) -> Self {
        let replica = Self::empty().unwrap();
        let (port, data) = (self.port.to_string(), replica.data());
        let place = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
        assert!(
            replica
                .run("pg_basebackup", &[&place[..], &["-D", &data, "-R", "-c", "fast"]].concat())
        );
        replica.start();
        replica
    }

    /// Lets a replica take changes.
    pub(crate) fn promote(&self) {
        assert!(self.run("pg_ctl", &["-D", &self.data(), "-w", "promote"]));
    }

    /// Lets the server take only encrypted connections. Returns the file of the authority of its certificate,
    /// which is for `localhost`.
    pub(crate) fn encrypt(&self) -> std::path::PathBuf {
        let data = self.data();
        let make = |command: &str| {
            let command = format!("umask 077; cd '{data}' && {command}");
            let output = self.as_owner("sh".as_ref()).args(["-c", &command]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        make(
            "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.crt",
        );
        make(
            "openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr",
        );
        make("echo subjectAltName=DNS:localhost > names");
        make(
            "openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt",
        );
        make("echo 'ssl = on' >> postgresql.conf");
        make("echo 'hostssl all all 127.0.0.1/32 trust' > pg_hba.conf");
        assert!(self.run("pg_ctl", &["-D", &data, "-w", "-m", "fast", "stop"]));
        self.start();
        let authority = tempfile::Builder::new().suffix(".crt").tempfile().unwrap();
        let (_, path) = authority.keep().unwrap();
        std::fs::copy(format!("{data}/ca.crt"), &path).unwrap();
        path
    }

    /// Lets the server ask each user for a password.
    pub(crate) fn ask_for_passwords(&self) {
        let data = self.data();
        let write =
            format!("echo 'host all all 127.0.0.1/32 scram-sha-256' > '{data}/pg_hba.conf'");
        let status = self.as_owner("sh".as_ref()).args(["-c", &write]).status();
        assert!(status.unwrap().success());
        assert!(self.run("pg_ctl", &["-D", &data, "reload"]));
    }

    /// Creates a folder for a server.
    fn empty() -> Option<Self> {
        let programs = std::env::var_os("MDSEL_POSTGRES_BIN").filter(|name| !name.is_empty());
        let Some(programs) = programs else {
            return skip("MDSEL_POSTGRES_BIN names no programs of a server");
        };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let folder = tempfile::tempdir().unwrap();
        let is_running = std::cell::Cell::new(false);
        let cluster = Self { folder, programs: programs.into(), port, is_running };
        if is_root() {
            let folder = cluster.folder.path().to_str().unwrap().to_owned();
            let mut command = std::process::Command::new("chown");
            assert!(command.args(["postgres", &folder]).status().unwrap().success());
        }
        Some(cluster)
    }

    fn data(&self) -> String {
        self.folder.path().join("data").to_str().unwrap().to_owned()
    }

    /// A command that runs as a user other than root.
    fn as_owner(&self, program: &std::path::Path) -> std::process::Command {
        let mut command = std::process::Command::new(program);
        if is_root() {
            command = std::process::Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
        }
        command.current_dir(self.folder.path());
        command
    }

    /// Runs a program of the server.
    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let log = std::fs::File::create(self.folder.path().join("output")).unwrap();
        let mut command = self.as_owner(&self.programs.join(program));
        let command = command.args(arguments).stdout(log.try_clone().unwrap()).stderr(log);
        command.status().unwrap().success()
    }

    pub(crate) fn start(&self) {
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
        self.is_running.set(true);
    }

    /// Kills the server as a crash of the machine would, except that its files keep what was written.
    pub(crate) fn kill(&self) {
        let id = self.id();
        assert!(std::process::Command::new("kill").args(["-9", &id]).status().unwrap().success());
        self.is_running.set(false);
    }

    /// Sends a signal to all processes of the server.
    pub(crate) fn signal(&self, name: &str) {
        let command = format!("kill -{name} {id} $(pgrep -P {id})", id = self.id());
        let status = std::process::Command::new("sh").args(["-c", &command]).status();
        assert!(status.unwrap().success());
    }

    /// The number of the process that starts the others.
    fn id(&self) -> String {
        let file = std::path::Path::new(&self.data()).join("postmaster.pid");
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().next().unwrap().to_owned()
    }

    /// A connection to the server, outside of mdsel.
    pub(crate) fn client(&self) -> postgres::Client {
        postgres::Client::connect(&self.url(), postgres::NoTls).unwrap()
    }

    pub(crate) fn url(&self) -> String {
        self.url_at("127.0.0.1")
    }

    /// The address of the database of the server under another name of this machine.
    pub(crate) fn url_at(&self, host: &str) -> String {
        format!("postgres://postgres@{host}:{}/mdsel", self.port)
    }
}

#[cfg(feature = "postgres")]
impl Drop for Cluster {
    fn drop(&mut self) {
        if self.is_running.get() {
            let data = self.data();
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
