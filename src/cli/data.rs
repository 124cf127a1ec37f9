//! `code`, `tables`, `tasks` and `meta`: turns their arguments into requests.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use super::args::{CodeArgs, Global, ListArgs, MetaArgs, TablesArgs, TasksArgs};
use super::questions::cursor;
use super::{Status, store};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::query::data::{Common, code, meta, tables, tasks};
use crate::query::page::fitting;
use crate::query::{FilterRequest, Library};

fn common(global: &Global, filter: FilterRequest, list: &ListArgs) -> Result<Common> {
    Ok(Common {
        filter,
        limit: fitting(list.limit, global.max_chars),
        after: cursor(list.after.as_ref())?,
    })
}

pub(super) fn code(global: &Global, arguments: &CodeArgs) -> Result<Status> {
    let mut common = common(global, arguments.filter.request(), &arguments.list)?;
    if arguments.out.is_some() && arguments.list.limit == limits::LIST_LIMIT {
        common.limit = 0;
    }
    let request = code::Request {
        languages: arguments.languages.clone(),
        containing: arguments.containing.clone(),
        common,
    };
    let mut answer = if request.containing.is_some() {
        let (snapshot, mut full_text) = store::open_full_text(global)?;
        code::code(&Library::new(&snapshot), Some(&mut full_text), &request)?
    } else {
        let snapshot = store::open_fresh(global, |_| Ok(None))?;
        code::code(&Library::new(&snapshot), None, &request)?
    };
    if let Some(folder) = &arguments.out {
        write_files(folder, &mut answer.code)?;
    }
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}

/// Writes each block to a file in `folder`. Writes none if one of the files exists.
fn write_files(folder: &Path, blocks: &mut [code::Code]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    let mut names = std::collections::HashSet::new();
    for block in blocks.iter() {
        let path = folder.join(block.file_name());
        if path.symlink_metadata().is_ok() || !names.insert(path.clone()) {
            let message = format!("{}: the file exists, and no file was written", path.display());
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("name an empty folder with --out, or remove the file"));
        }
    }
    for block in blocks {
        let path = folder.join(block.file_name());
        let mut file = File::create_new(&path).map_err(|error| Error::io(&path, error))?;
        file.write_all(&block.bytes).map_err(|error| Error::io(&path, error))?;
        block.written = Some(path.to_string_lossy().into_owned());
        block.code = None;
    }
    Ok(())
}

pub(super) fn tables(global: &Global, arguments: &TablesArgs) -> Result<Status> {
    let request = tables::Request {
        headers: arguments.headers.clone(),
        condition: arguments.filter.condition.clone(),
        columns: arguments.columns.clone(),
        common: common(global, arguments.filter.request(), &arguments.list)?,
    };
    let snapshot = store::open_fresh(global, |_| Ok(None))?;
    let answer = tables::tables(&Library::new(&snapshot), &request)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}

pub(super) fn tasks(global: &Global, arguments: &TasksArgs) -> Result<Status> {
    let request = tasks::Request {
        is_done: match (arguments.open, arguments.done) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        },
        condition: arguments.filter.condition.clone(),
        common: common(global, arguments.filter.request(), &arguments.list)?,
    };
    let snapshot = store::open_fresh(global, |_| Ok(None))?;
    let answer = tasks::tasks(&Library::new(&snapshot), &request)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}

pub(super) fn meta(global: &Global, arguments: &MetaArgs) -> Result<Status> {
    if let Some(change) = &arguments.change {
        return super::edit::meta(global, change);
    }
    let common = common(global, arguments.filter.request(), &arguments.list)?;
    let snapshot = store::open_fresh(global, |_| Ok(None))?;
    let library = Library::new(&snapshot);
    if arguments.key_types {
        let answer = meta::types(&library, &common.filter, common.limit, common.after)?;
        global.print_list(&answer)?;
        return Ok(answer.outcome().into());
    }
    let request = meta::Request { keys: arguments.keys.clone(), common };
    let answer = meta::meta(&library, &request)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}
