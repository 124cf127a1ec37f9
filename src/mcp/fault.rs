//! Faults as the protocol tells them: of a call as its result, which models read, of anything else as an
//! error of JSON-RPC.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode};
use serde_json::json;

use super::reply::framed;
use crate::address::Fault;
use crate::error::{Error, ErrorKind};
use crate::output::json::compact;

/// The code of JSON-RPC 2.0 (section 5.1), or of MCP, for a kind of error.
fn code(kind: ErrorKind) -> ErrorCode {
    match kind {
        ErrorKind::Usage
        | ErrorKind::BudgetTooSmall
        | ErrorKind::Limit
        | ErrorKind::InvalidPattern
        | ErrorKind::Conflict
        | ErrorKind::EditRefused
        | ErrorKind::OutsideRoot
        | ErrorKind::UntrustedStore => ErrorCode::INVALID_PARAMS,
        ErrorKind::StoreNotFound => ErrorCode::RESOURCE_NOT_FOUND,
        ErrorKind::Locked
        | ErrorKind::ReadOnly
        | ErrorKind::StoreForeign
        | ErrorKind::StoreTooNew
        | ErrorKind::StoreCorrupt
        | ErrorKind::StoreNeedsCheckpoint
        | ErrorKind::Io => ErrorCode::INTERNAL_ERROR,
    }
}

/// An error of the protocol, its data the code and the hint that people get.
pub(super) fn data(error: &Error) -> ErrorData {
    ErrorData::new(code(error.kind()), error.to_string(), Some(error.to_json()))
}

/// An address that names nothing, or nothing alone.
pub(super) fn unresolved(fault: &Fault) -> ErrorData {
    let candidates = fault.candidates.iter().map(|candidate| candidate.selector.as_str());
    let others = fault.suggestions.iter().map(String::as_str).chain(candidates);
    let data = json!({
        "code": fault.code.code(),
        "message": fault.message,
        "hint": others.collect::<Vec<_>>().join("; "),
    });
    ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, fault.message.clone(), Some(data))
}

/// The result of a call that failed: framed, because a fault may name what stands in a document.
pub(super) fn result(error: &Error) -> CallToolResult {
    let text = framed(&compact(&json!({ "error": error.to_json() })), &[]);
    CallToolResult::error(vec![ContentBlock::text(text)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_hints_are_told() {
        let error = Error::new(ErrorKind::Usage, "no such tool").with_hint("try another");
        let told = serde_json::to_value(data(&error)).unwrap();
        assert_eq!(
            told,
            json!({"code": -32602, "message": "no such tool", "data":
                {"code": "USAGE", "message": "no such tool", "hint": "try another"}})
        );
        assert_eq!(code(ErrorKind::StoreNotFound).0, -32002);
        assert_eq!(code(ErrorKind::StoreCorrupt).0, -32603);
    }
}
