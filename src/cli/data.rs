//! `code`, `tables` and `tasks`: their arguments and their requests.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::ArgPredicate;
use clap_complete::engine::ArgValueCompleter;

use super::args::{FilterArgs, ListArgs, PlaceFilterArgs, RecordArgs};
use super::completers::addresses;
use super::global::Global;
use super::read_command::{QueryArguments, purpose};
use crate::error::{Error, ErrorKind, Result};
use crate::output::RecordForm;
use crate::query::data::tables::Column;
use crate::query::data::{ItemRequest, code, tables, tasks};
use crate::query::{FilterRequest, Session};
use crate::store::Purpose;

/// Filters of `tables` and `tasks`, whose items have values of their own.
#[derive(Debug, Args)]
#[command(
    mut_arg("types", |types| types.help("Take only items in blocks of this type; repeatable")),
    mut_arg("level", |level| level.help("Take only items in sections of this level, 1 to 6")),
    mut_arg("sort", |sort| sort.help("Sort by the documents: path, title or a key of their front matter, not of \
                                      the items; -KEY for descending"))
)]
pub(super) struct ItemFilterArgs {
    #[command(flatten)]
    places: PlaceFilterArgs,
    /// Take only rows or tasks that match, as in 'Default = 5' or 'due < 2026-06-01'
    #[arg(long = "where", value_name = "EXPR", id = "where")]
    condition: Option<String>,
    /// Take only documents whose front matter matches
    #[arg(long, value_name = "EXPR")]
    where_meta: Option<String>,
}

impl ItemFilterArgs {
    /// Returns the filter of documents as a request of the session.
    pub(super) fn request(&self) -> FilterRequest {
        self.places.request(self.where_meta.as_ref())
    }
}

/// Arguments of `code`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel code guide.md --lang bash",
    mut_arg("limit", |limit| limit.default_value_if("out", ArgPredicate::IsPresent, "0").help(
        "List or write at most N items; 0 for all, which is the default with --out"
    ))
)]
pub(super) struct CodeArgs {
    /// Take only what is below these folders, documents or sections, as with --under
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    addresses: Vec<String>,
    /// Take only code in these languages, by any of their names; repeatable
    #[arg(long = "lang", value_name = "LANGUAGE", value_delimiter = ',')]
    languages: Vec<String>,
    /// Take only code that contains TEXT, ignoring case
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    containing: Option<String>,
    /// Write each block to a new file in this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    #[command(flatten)]
    records: RecordArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    list: ListArgs,
}

/// Arguments of `tables`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel tables --header command --where 'command = select'")]
pub(super) struct TablesArgs {
    /// Take only what is below these folders, documents or sections, as with --under
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    addresses: Vec<String>,
    /// Take only tables with this column; if repeated, with all of them
    #[arg(long = "header", value_name = "NAME")]
    headers: Vec<String>,
    /// Show only these columns. `file` and `line` are those of the row; the name of a column with a comma, or that is
    /// `file` or `line`, is written in backquotes
    #[arg(long, value_name = "A,B")]
    columns: Vec<String>,
    #[command(flatten)]
    filter: ItemFilterArgs,
    #[command(flatten)]
    list: ListArgs,
}

/// Arguments of `tasks`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel tasks --open --where 'not text contains later'")]
pub(super) struct TasksArgs {
    /// Take only what is below these folders, documents or sections, as with --under
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    addresses: Vec<String>,
    /// Take only open tasks
    #[arg(long, conflicts_with = "done")]
    open: bool,
    /// Take only tasks that are done
    #[arg(long)]
    done: bool,
    #[command(flatten)]
    filter: ItemFilterArgs,
    #[command(flatten)]
    list: ListArgs,
}

const FOLDER_HINT: &str = "name a folder, which may be new, with --out";

pub(super) fn item_request(
    filter: FilterRequest,
    list: &ListArgs,
    limit: usize,
) -> Result<ItemRequest> {
    Ok(ItemRequest { filter, limit, after: list.after.cursor()? })
}

impl QueryArguments for CodeArgs {
    type Answer = code::CodeAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.filter.places.documents.all_under(&mut self.addresses))
    }

    fn record_form(&self) -> RecordForm {
        self.records.form()
    }

    fn purpose(&self) -> Purpose {
        purpose(self.containing.as_ref())
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<code::CodeAnswer> {
        let found = |limit| {
            let items = item_request(self.filter.request(), &self.list, limit)?;
            let (languages, containing) = (self.languages.clone(), self.containing.clone());
            code::code(session, &code::CodeRequest { languages, containing, items })
        };
        let Some(folder) = &self.out else { return global.filled(self.list.limit, found) };
        let mut answer = found(self.list.limit)?;
        name_files(folder, &mut answer.code)?;
        answer.page.files_written = Some(answer.code.len());
        // No file is written yet, so an answer that does not fit at all changes nothing.
        global.check_fits(&answer).map_err(|error| error.in_part("no file was written"))?;
        write_files(folder, &answer.code)?;
        Ok(answer)
    }
}

/// Names a file in `folder` for each block. Fails if one of the files exists.
fn name_files(folder: &Path, blocks: &mut [code::Code]) -> Result<()> {
    if folder.is_file() {
        let message = format!("{} is a file", folder.display());
        return Err(Error::new(ErrorKind::Usage, message).with_hint(FOLDER_HINT));
    }
    let mut names = HashSet::new();
    for block in blocks {
        let mut candidates = (1..).map(|number| block.file_name(number));
        let name = candidates.find(|name| names.insert(name.clone()));
        let path = folder.join(name.unwrap_or_default());
        if path.symlink_metadata().is_ok() {
            let message = format!("{}: the file exists, and no file was written", path.display());
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("name an empty folder with --out, or remove the file"));
        }
        block.written = Some(path.to_string_lossy().into_owned());
        block.code = None;
    }
    Ok(())
}

/// Writes each block to its file in `folder`, or none of them.
fn write_files(folder: &Path, blocks: &[code::Code]) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::io(folder, error).with_hint(FOLDER_HINT))?;
    let mut created = Vec::new();
    let written = blocks.iter().try_for_each(|block| {
        let path = Path::new(block.written.as_deref().unwrap_or_default());
        let mut file = File::create_new(path).map_err(|error| Error::io(path, error))?;
        created.push(path);
        file.write_all(&block.bytes).map_err(|error| Error::io(path, error))
    });
    if written.is_err() {
        // They would be in the way when the command is repeated.
        for path in created {
            drop(std::fs::remove_file(path));
        }
    }
    written
}

/// Returns the columns in a list with commas; a comma in backquotes is part of a name.
fn columns(list: &str) -> Vec<Column> {
    let mut is_quoted = false;
    let ends = |scalar: char| {
        is_quoted ^= scalar == '`';
        scalar == ',' && !is_quoted
    };
    let column = |name: &str| match name.trim() {
        "file" => Column::File,
        "line" => Column::Line,
        name => {
            let inner = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            Column::Named(inner.unwrap_or(name).to_owned())
        }
    };
    list.split(ends).map(column).collect()
}

impl QueryArguments for TablesArgs {
    type Answer = tables::TableAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.filter.places.documents.all_under(&mut self.addresses))
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<tables::TableAnswer> {
        global.filled(self.list.limit, |limit| {
            let request = tables::TableRequest {
                headers: self.headers.clone(),
                condition: self.filter.condition.clone(),
                columns: self.columns.iter().flat_map(|list| columns(list)).collect(),
                items: item_request(self.filter.request(), &self.list, limit)?,
            };
            tables::tables(session, &request)
        })
    }
}

impl QueryArguments for TasksArgs {
    type Answer = tasks::TaskAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.filter.places.documents.all_under(&mut self.addresses))
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<tasks::TaskAnswer> {
        global.filled(self.list.limit, |limit| {
            let request = tasks::TaskRequest {
                is_done: match (self.open, self.done) {
                    (true, _) => Some(false),
                    (_, true) => Some(true),
                    _ => None,
                },
                condition: self.filter.condition.clone(),
                items: item_request(self.filter.request(), &self.list, limit)?,
            };
            tasks::tasks(session, &request)
        })
    }
}
