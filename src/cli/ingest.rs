//! `ingest`, `ingest --dry-run` and `ingest --check`.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::args::{Global, IngestArgs};
use super::progress::Bar;
use super::{Status, remark, store};
use crate::error::Result;
use crate::ingest::{ChangeKind, OptionChanges, Paths, Report, Request, preview, run as ingest};
use crate::output::{Answer, Painter};
use crate::query::List;

pub(super) fn run(global: &Global, arguments: &IngestArgs) -> Result<Status> {
    let folder = store::current_folder()?;
    let path = match store::find(global)? {
        Some(path) => path,
        None => store::new_path()?,
    };
    let is_new = !path.exists();
    let shown = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
    let paths: Vec<PathBuf> = arguments.paths.iter().map(|path| folder.join(path)).collect();
    let root = arguments.root.as_ref().map(|root| folder.join(root));
    let request = Request {
        store: &path,
        root: root.as_deref(),
        folder: &folder,
        paths: if paths.is_empty() { Paths::All } else { Paths::Given(&paths) },
        options: OptionChanges {
            extensions: arguments.ext.clone(),
            hidden: arguments.hidden,
            no_ignore: arguments.no_ignore,
            max_file_bytes: arguments.max_file_size,
        },
        force: arguments.force,
        wait: Duration::from_secs(arguments.wait),
    };
    let is_preview = arguments.check || arguments.dry_run;
    if !is_preview {
        remark(&format!("store: {shown}{}", if is_new { " (new)" } else { "" }));
    }
    let bar = Bar::new();
    let report = if is_preview { preview(&request, &bar) } else { ingest(&request, &bar) };
    bar.clear();
    let report = report?;
    if arguments.check {
        let check = Check::of(&report);
        global.print_list(&check)?;
        let is_clean = check.findings.is_empty();
        return Ok(if is_clean { Status::Success } else { Status::Nothing });
    }
    global.print_list(&report)?;
    Ok(Status::Success)
}

/// A document that differs from what is stored.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    code: &'static str,
    message: String,
    file: String,
    hint: &'static str,
}

/// Whether the store is out of date.
#[derive(Clone, Debug, Serialize)]
struct Check {
    findings: Vec<Finding>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl List for Check {
    fn count(&self) -> usize {
        self.findings.len()
    }

    fn least(&self) -> usize {
        0
    }

    fn first(&self, count: usize) -> Self {
        let findings: Vec<Finding> = self.findings.iter().take(count).cloned().collect();
        Self { truncated: findings.len() < self.findings.len(), findings }
    }
}

impl Check {
    fn of(report: &Report) -> Self {
        let findings = report.changes.iter().flatten().map(|change| {
            let (code, what) = match change.change {
                ChangeKind::Added => ("ADDED", "is not in the store"),
                ChangeKind::Changed => ("CHANGED", "differs from what is stored"),
                ChangeKind::Removed => ("REMOVED", "is in the store and no longer there"),
            };
            Finding {
                code,
                message: format!("{} {what}", change.file),
                file: change.file.clone(),
                hint: "mdsel ingest",
            }
        });
        Self { findings: findings.collect(), truncated: false }
    }
}

impl Answer for Check {
    fn rows(&self) -> Vec<Value> {
        self.findings.iter().filter_map(|finding| serde_json::to_value(finding).ok()).collect()
    }

    fn text(&self, painter: &mut Painter) {
        for finding in &self.findings {
            painter.plain(&finding.message);
        }
    }
}
