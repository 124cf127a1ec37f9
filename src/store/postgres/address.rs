//! The address of a store on a server: a URL, completed as libpq does.
//!
//! What the URL leaves out comes from the variables of libpq (`PGHOST`, `PGPASSWORD` and so on), a missing
//! password from the password file, and the rest from defaults. The caller passes the variables, because the
//! library reads no environment. Invariant: no text that this module returns contains a password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::{Error, ErrorKind, Result};
use crate::limits;

/// The schema of the tables unless the URL names another one with `schema=NAME`.
const SCHEMA: &str = "mdsel";

/// The port of a server unless the URL or `PGPORT` names another one.
const PORT: u16 = 5432;

/// How long a connection is silent before the client asks whether the server is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How the certificate of the server is verified if the connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verification {
    /// Not at all.
    None,
    /// A known authority must have signed it.
    Authority,
    /// It must also be for the name of the host.
    Name,
}

/// Where a store is, and who reads it.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    /// The schema of the tables.
    pub(super) schema: String,
    pub(super) verification: Verification,
    /// A file with the certificates of authorities; `None` for those of the system.
    pub(super) authorities: Option<PathBuf>,
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Address").field(&self.to_string()).finish()
    }
}

impl fmt::Display for Address {
    /// Writes the host, the port, the database and the schema.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.config.get_dbname().unwrap_or_default();
        write!(formatter, "postgres://{}/{database}", self.hosts())?;
        if self.schema != SCHEMA {
            write!(formatter, "?schema={}", self.schema)?;
        }
        Ok(())
    }
}

impl Address {
    /// Parses `url`. `variable` returns the value of an environment variable.
    ///
    /// # Errors
    ///
    /// `USAGE` if the URL cannot be parsed or a value is not valid.
    pub fn parse(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
        let mut rest = Vec::new();
        let (mut schema, mut mode, mut authorities) = (None, None, None);
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("schema", value)) => schema = Some(decoded(value)),
                Some(("sslmode", value)) => mode = Some(decoded(value)),
                Some(("sslrootcert", value)) => authorities = Some(decoded(value)),
                _ => rest.push(parameter),
            }
        }
        let url = format!("{base}?{}", rest.join("&"));
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            invalid(&cause.unwrap_or_else(|| "it cannot be parsed".to_owned()))
        })?;
        complete(&mut config, variable)?;
        let schema = schema.unwrap_or_else(|| SCHEMA.to_owned());
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if schema.is_empty() || schema.len() > 63 || !schema.bytes().all(is_plain) {
            return Err(invalid("a schema has 1 to 63 of the characters a-z, 0-9 and _"));
        }
        if schema.starts_with("pg_") || schema == "information_schema" {
            return Err(invalid("this schema belongs to PostgreSQL"));
        }
        let authorities = authorities.or_else(|| variable("PGSSLROOTCERT"));
        let is_system = authorities.as_deref() == Some("system");
        let default = if is_system { "verify-full" } else { "prefer" };
        let mode = mode.or_else(|| variable("PGSSLMODE")).unwrap_or_else(|| default.to_owned());
        // As in libpq: everybody gets a certificate of an authority of the system, so only the name says who it is.
        if is_system && mode != "verify-full" {
            return Err(invalid("sslrootcert=system needs sslmode=verify-full"));
        }
        let authorities = authorities.filter(|_| !is_system);
        let (mode, mut verification) = match mode.as_str() {
            "disable" => (SslMode::Disable, Verification::None),
            "allow" | "prefer" => (SslMode::Prefer, Verification::None),
            "require" => (SslMode::Require, Verification::None),
            "verify-ca" => (SslMode::Require, Verification::Authority),
            "verify-full" => (SslMode::Require, Verification::Name),
            _ => {
                return Err(invalid(
                    "sslmode must be disable, prefer, require, verify-ca or verify-full",
                ));
            }
        };
        // As in libpq, a file of authorities makes `require` verify the authority.
        if mode == SslMode::Require && verification == Verification::None && authorities.is_some() {
            verification = Verification::Authority;
        }
        config.ssl_mode(mode);
        Ok(Self { config, schema, verification, authorities: authorities.map(PathBuf::from) })
    }

    /// Returns the hosts with their ports, as in a URL.
    pub(super) fn hosts(&self) -> String {
        let ports = self.config.get_ports();
        let hosts = self.config.get_hosts().iter().enumerate().map(|(index, host)| {
            let port = ports.get(index).or(ports.first()).copied().unwrap_or(PORT);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                Host::Unix(folder) => format!("{}:{port}", folder.display()),
            }
        });
        hosts.collect::<Vec<_>>().join(",")
    }
}

/// Fills in what the URL leaves out.
fn complete(config: &mut Config, variable: &dyn Fn(&str) -> Option<String>) -> Result<()> {
    let number = |name: &str| -> Result<Option<u64>> {
        let parsed = variable(name).map(|value| value.parse());
        parsed.transpose().map_err(|_| invalid(&format!("{name} must be a number")))
    };
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        config.host(variable("PGHOST").unwrap_or_else(|| "localhost".to_owned()));
    }
    if config.get_ports().is_empty()
        && let Some(port) = number("PGPORT")?
    {
        config.port(u16::try_from(port).map_err(|_| invalid("PGPORT is too large"))?);
    }
    if config.get_user().is_none() {
        let user = ["PGUSER", "USER", "LOGNAME"].into_iter().find_map(variable);
        config.user(&user.ok_or_else(|| invalid("it names no user"))?);
    }
    let user = config.get_user().unwrap_or_default().to_owned();
    if config.get_dbname().is_none_or(str::is_empty) {
        config.dbname(variable("PGDATABASE").unwrap_or_else(|| user.clone()));
    }
    if config.get_connect_timeout().is_none() {
        let seconds = number("PGCONNECT_TIMEOUT")?.filter(|seconds| *seconds > 0);
        let seconds = seconds.unwrap_or(limits::CONNECT_SECONDS as u64);
        config.connect_timeout(Duration::from_secs(seconds));
    }
    if config.get_options().is_none()
        && let Some(options) = variable("PGOPTIONS")
    {
        config.options(&options);
    }
    if config.get_application_name().is_none() {
        config.application_name(variable("PGAPPNAME").unwrap_or_else(|| "mdsel".to_owned()));
    }
    config.keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE).keepalives_retries(2);
    config.tcp_user_timeout(KEEPALIVE * 2);
    if config.get_password().is_none() {
        let file = variable("PGPASSFILE")
            .or_else(|| variable("HOME").map(|home| format!("{home}/.pgpass")))
            .map(PathBuf::from);
        let password = variable("PGPASSWORD")
            .or_else(|| file.and_then(|file| password_in(&file, config, &user)));
        if let Some(password) = password {
            config.password(password);
        }
    }
    Ok(())
}

fn invalid(reason: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("the address of the server is not valid: {reason}"))
        .with_hint("write postgres://USER@HOST:PORT/DATABASE; see `mdsel help servers`")
}

/// Decodes `%XX` in a value of a URL.
fn decoded(value: &str) -> String {
    crate::address::namespace::decode(value)
}

/// Returns the password for this address in a password file: the first line whose fields are equal or `*`.
/// As in libpq, a file that others can read is ignored.
fn password_in(file: &Path, config: &Config, user: &str) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = std::fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o077 != 0 {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(PORT).to_string();
    let wanted = [host.as_str(), &port, config.get_dbname().unwrap_or_default(), user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [own @ .., password] = fields.as_slice() else { return None };
        let is_it = own.len() == wanted.len()
            && own.iter().zip(wanted).all(|(own, wanted)| own == "*" || own == wanted);
        is_it.then(|| password.clone())
    })
}

/// Splits a line of a password file at colons. A backslash makes the next character plain.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut scalars = line.chars();
    while let Some(scalar) = scalars.next() {
        let plain = match scalar {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => scalars.next(),
            scalar => Some(scalar),
        };
        if let Some(last) = fields.last_mut() {
            last.extend(plain);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str, variables: &[(&str, &str)]) -> Result<Address> {
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Address::parse(url, &value)
    }

    #[test]
    fn a_url_is_completed_by_variables_and_shows_no_password() {
        let address =
            parsed("postgres://me:secret@db.example:6000/notes?schema=team", &[]).unwrap();
        assert_eq!(address.to_string(), "postgres://db.example:6000/notes?schema=team");
        assert!(!format!("{address:?}").contains("secret"));
        let variables = [("PGHOST", "h"), ("PGPORT", "7"), ("PGUSER", "u"), ("PGDATABASE", "d")];
        let address = parsed("postgresql://", &variables).unwrap();
        assert_eq!(address.to_string(), "postgres://h:7/d");
        let address = parsed("postgres://u@/d?host=/run/pg&port=9", &[]).unwrap();
        assert_eq!(address.to_string(), "postgres:///run/pg:9/d");
    }

    #[test]
    fn modes_of_encryption_are_those_of_libpq() {
        for (mode, ssl, verification) in [
            ("disable", SslMode::Disable, Verification::None),
            ("prefer", SslMode::Prefer, Verification::None),
            ("require", SslMode::Require, Verification::None),
            ("verify-ca", SslMode::Require, Verification::Authority),
            ("verify-full", SslMode::Require, Verification::Name),
            ("require&sslrootcert=x", SslMode::Require, Verification::Authority),
            ("verify-full&sslrootcert=system", SslMode::Require, Verification::Name),
        ] {
            let address = parsed(&format!("postgres://u@h/d?sslmode={mode}"), &[]).unwrap();
            assert_eq!((address.config.get_ssl_mode(), address.verification), (ssl, verification));
        }
        let address = parsed("postgres://u@h/d?sslrootcert=system", &[]).unwrap();
        assert_eq!((address.verification, address.authorities), (Verification::Name, None));
    }

    #[test]
    fn an_address_that_is_not_valid_is_a_usage_error_without_the_password() {
        for url in [
            "postgres://u:secret@h:port/d",
            "postgres://u:secret@h/d?sslmode=maybe",
            "postgres://u:secret@h/d?sslmode=require&sslrootcert=system",
            "postgres://u:secret@h/d?schema=a;b",
            "postgres://u:secret@h/d?schema=pg_temp",
            "postgres://u:secret@h/d?schema=information_schema",
            "postgres://u:secret@h/d?unknown=1",
        ] {
            let error = parsed(url, &[]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{url}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }

    #[test]
    fn the_password_file_is_read_like_that_of_libpq() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pass");
        std::fs::write(&file, "# h:*:*:*:x\nother:*:*:*:no\nh:5432:d:u:a\\:b:c\n").unwrap();
        let variables = [("PGPASSFILE", file.to_str().unwrap())];
        let password = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let address = parsed("postgres://u@h/d", &variables).unwrap();
            address.config.get_password().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        assert_eq!(password(0o600).as_deref(), Some("a:b:c"));
        assert_eq!(password(0o644), None);
    }
}
