//! `meta` and its commands: their arguments and their requests.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use schemars::JsonSchema;

use super::args::{FilterArgs, ListArgs};
use super::command::{AnyCommand, commands};
use super::completers::documents;
use super::data::item_request;
use super::described::{Described, described, has, schema_of};
use super::edit::{EditArgs, EditArguments, EditOptions, run};
use super::exit::Status;
use super::global::Global;
use super::lazy::Lazy;
use super::print::kept;
use super::store::open_fresh;
use crate::address::FRONT_MATTER_PLACE;
use crate::data::front_matter::{KeyChange, value_of};
use crate::edit::plan::Allow;
use crate::edit::{Edit, Operation};
use crate::error::{Error, ErrorKind, Result};
use crate::message::message;
use crate::output::Format;
use crate::output::forms::edit_json::{Batch, Replaced, Single};
use crate::query::data::meta;
use crate::query::page::fitting;
use crate::query::{List as _, Session};
use crate::store::Purpose;
use crate::visible::quoted;

/// Arguments of `meta`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: mdsel meta --where 'tags contains install' --get title    mdsel meta --types",
    args_conflicts_with_subcommands = true
)]
pub(super) struct MetaArgs {
    #[command(subcommand)]
    change: Option<MetaCommand>,
    /// Show only this key; repeatable. Documents with none of the keys are left out
    #[arg(long = "get", value_name = "KEY")]
    keys: Vec<String>,
    /// List the keys of all front matter with the types of their values
    #[arg(long = "types", conflicts_with = "keys")]
    key_types: bool,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    list: ListArgs,
}

commands! {
    /// The changes of `meta`.
    MetaCommand {
        /// Set the values of keys; nothing else in the file changes
        Set(Lazy<EditArgs<MetaSetArgs>>),
        /// Remove keys; nothing else in the file changes
        Unset(Lazy<EditArgs<MetaUnsetArgs>>),
        /// Add a value to the list of a key; nothing else in the file changes
        Add(Lazy<EditArgs<MetaAddArgs>>),
        /// Remove a value from the list of a key; nothing else in the file changes
        Remove(Lazy<EditArgs<MetaRemoveArgs>>),
    }
}

/// Arguments of `meta set`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel meta set guide status=done 'tags=[a, b]'")]
pub(super) struct MetaSetArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    document: String,
    /// A key, with dots for nested ones, in backquotes if it contains =, and its value: a number, true,
    /// false, null, [a, b], {a: 1}, a text, or a text in double quotes
    #[arg(value_name = "KEY=VALUE", required = true)]
    values: Vec<String>,
}

/// Arguments of `meta unset`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel meta unset guide tags")]
pub(super) struct MetaUnsetArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    document: String,
    /// A key, with dots for nested ones
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,
}

/// Arguments of `meta add`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel meta add guide tags install")]
pub(super) struct MetaAddArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    document: String,
    /// The key of the list, which is made if it is missing
    #[arg(value_name = "KEY")]
    key: String,
    /// The values to add, unless the list has them
    #[arg(value_name = "VALUE", required = true, allow_negative_numbers = true)]
    values: Vec<String>,
}

/// Arguments of `meta remove`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel meta remove guide tags install")]
pub(super) struct MetaRemoveArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    document: String,
    /// The key of the list
    #[arg(value_name = "KEY")]
    key: String,
    /// The values to remove, if the list has them
    #[arg(value_name = "VALUE", required = true, allow_negative_numbers = true)]
    values: Vec<String>,
}

/// The front matter of documents, or with `--types` its keys.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
#[schemars(untagged)]
enum MetaShape {
    Documents(meta::MetaAnswer),
    Types(meta::Types),
}

/// What a change of one key did, or of several.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum MetaChangeShape {
    One(Single<'static, Replaced<'static>>),
    Several(Batch<'static>),
}

impl AnyCommand for MetaArgs {
    fn has(&self, format: Format) -> bool {
        match &self.change {
            Some(change) => change.has(format),
            None => has::<meta::MetaAnswer>(format),
        }
    }

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        match &mut self.change {
            Some(change) => change.addresses(),
            None => Ok(self.filter.places.documents.under.iter_mut().collect()),
        }
    }

    fn run(&self, global: &Global) -> Result<Status> {
        if let Some(change) = &self.change {
            return change.run(global);
        }
        let items = |limit| item_request(self.filter.request(), &self.list, limit);
        let reader = open_fresh(global, Purpose::Read, |_| Ok(None))?;
        let session = Session::new(&*reader);
        if self.key_types {
            let items = items(fitting(self.list.limit, global.most_chars()))?;
            let answer = kept(meta::types(&session, &items)?);
            global.print_list(answer)?;
            return Ok(answer.outcome().into());
        }
        let answer = kept(global.filled(self.list.limit, |limit| {
            let request = meta::MetaRequest { keys: self.keys.clone(), items: items(limit)? };
            meta::meta(&session, &request)
        })?);
        global.print_documents(&session, answer)?;
        Ok(answer.outcome().into())
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let schema = Some(schema_of::<MetaShape> as fn() -> _);
        all.push(Described { schema, ..described::<meta::MetaAnswer>(name) });
        MetaCommand::describe(name, all);
    }
}

impl EditArguments for MetaSetArgs {
    type Json = MetaChangeShape;

    fn addresses(&mut self) -> Vec<&mut String> {
        vec![&mut self.document]
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let mut changes = Vec::new();
        for text in &self.values {
            let in_backquotes = text.strip_prefix('`').and_then(|rest| rest.split_once("`="));
            let Some((key, value)) = in_backquotes.or_else(|| text.split_once('=')) else {
                return Err(Error::new(
                    ErrorKind::Usage,
                    format!("{text} has no =", text = quoted(&text)),
                )
                .with_hint(
                    "write KEY=VALUE, as in status=done; `mdsel edit --batch FILE` changes several documents",
                ));
            };
            let key = key.trim();
            let document = &self.document;
            let ends_with = |sign| {
                key.strip_suffix(sign).filter(|_| in_backquotes.is_none()).map(str::trim_end)
            };
            let hint = if let Some(list) = ends_with('+') {
                message!(
                    "add a value to a list with `mdsel meta add {path} {} {}`",
                    document,
                    list,
                    value
                )
            } else if let Some(list) = ends_with('-') {
                message!(
                    "remove a value from a list with `mdsel meta remove {path} {} {}`",
                    document,
                    list,
                    value
                )
            } else {
                let is_same =
                    |change: &KeyChange| matches!(change, KeyChange::Set(other, _) if other == key);
                if changes.iter().any(is_same) {
                    let message = format!("{key} is given twice", key = quoted(&key));
                    return Err(Error::new(ErrorKind::Usage, message)
                        .with_hint("give each key one value; a list is written as KEY=[A, B]"));
                }
                changes.push(KeyChange::Set(key.to_owned(), value_of(value)));
                continue;
            };
            let message =
                format!("{text} has no KEY: a key does not end with + or -", text = quoted(&text));
            return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
        }
        change(global, &self.document, changes, options)
    }
}

impl EditArguments for MetaUnsetArgs {
    type Json = MetaChangeShape;

    fn addresses(&mut self) -> Vec<&mut String> {
        vec![&mut self.document]
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let mut changes = Vec::new();
        for key in self.keys.iter().cloned().map(KeyChange::Unset) {
            // A key goes once.
            if !changes.contains(&key) {
                changes.push(key);
            }
        }
        change(global, &self.document, changes, options)
    }
}

impl EditArguments for MetaAddArgs {
    type Json = MetaChangeShape;

    fn addresses(&mut self) -> Vec<&mut String> {
        vec![&mut self.document]
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let add = |value: &String| KeyChange::Add(self.key.clone(), value_of(value));
        change(global, &self.document, self.values.iter().map(add).collect(), options)
    }
}

impl EditArguments for MetaRemoveArgs {
    type Json = MetaChangeShape;

    fn addresses(&mut self) -> Vec<&mut String> {
        vec![&mut self.document]
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let remove = |value: &String| KeyChange::Remove(self.key.clone(), value_of(value));
        change(global, &self.document, self.values.iter().map(remove).collect(), options)
    }
}

/// Changes keys of the front matter of a document.
fn change(
    global: &Global,
    document: &str,
    changes: Vec<KeyChange>,
    options: &EditOptions,
) -> Result<Status> {
    // The address that `mdsel meta` prints.
    let document = document
        .strip_suffix(FRONT_MATTER_PLACE)
        .and_then(|it| it.strip_suffix("::"))
        .unwrap_or(document);
    let is_batch = changes.len() > 1;
    let edit = |change: KeyChange| Edit {
        document: None,
        section: FRONT_MATTER_PLACE.to_owned(),
        // What is wrong with a key names it.
        origin: None,
        operation: Operation::Key(change),
        allow: Allow::default(),
        expect: options.expect.clone(),
        is_fuzzy: false,
    };
    let edits: Vec<Edit> = changes.into_iter().map(edit).collect();
    run(global, Some(document), edits.into(), options, is_batch)
}
