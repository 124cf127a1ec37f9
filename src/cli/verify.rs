//! `verify`: turns its arguments into a request.

use super::args::{Global, VerifyArgs};
use super::{Status, store};
use crate::error::Result;
use crate::verify::{Action, VerifyRequest, verify};

pub(super) fn run(global: &Global, arguments: &VerifyArgs) -> Result<Status> {
    if arguments.repair || arguments.drop_edits {
        global.has_room_for_report()?;
    }
    let request = VerifyRequest {
        store: &store::store(global)?,
        is_full: arguments.full,
        is_reparsed: arguments.reparse,
        action: match (arguments.repair, arguments.drop_edits) {
            (true, _) => Action::Repair,
            (_, true) => Action::DropEdits,
            _ => Action::List,
        },
        wait: arguments.wait.duration(),
        after: arguments.after.cursor()?,
    };
    let findings = verify(&request)?.at_most(arguments.limit);
    global.print_findings(findings)
}
