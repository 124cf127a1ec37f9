//! Errors in the form that the protocol defines: the error of a call is its result, which models
//! read; any other is a JSON-RPC error.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode};
use serde_json::{Value, json};

use super::hint;
use super::reply::framed;
use crate::address::AddressError;
use crate::error::{Error, ErrorKind};
use crate::output::json::compact;

/// Returns the error code of JSON-RPC 2.0 (section 5.1) or of MCP for a kind of error.
fn code(kind: ErrorKind) -> ErrorCode {
    match kind {
        ErrorKind::Usage
        | ErrorKind::BudgetTooSmall
        | ErrorKind::Limit
        | ErrorKind::InvalidPattern
        | ErrorKind::InvalidExpression
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
        | ErrorKind::StoreUnreachable
        | ErrorKind::Io => ErrorCode::INTERNAL_ERROR,
    }
}

/// Returns the code, the message and the hint of an error. See [`hint::for_calls`] for `store`.
fn object(error: &Error, store: &str) -> Value {
    error.to_json_as(|message| hint::for_calls(message, store))
}

/// Returns a JSON-RPC error. Its data contains the code, the message and the hint; many clients show only its message, so
/// that has the hint, too.
pub(super) fn data(error: &Error, store: &str) -> ErrorData {
    let object = object(error, store);
    let texts = [&object["message"], &object["hint"]].map(|text| text.as_str().unwrap_or_default());
    let message = texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
    ErrorData::new(code(error.kind()), message, Some(object))
}

/// Returns the error for an address that has no match, or more than one.
pub(super) fn unresolved(fault: &AddressError, store: &str) -> ErrorData {
    let candidates = fault.candidates.iter().map(|candidate| candidate.selector.as_str());
    let others = fault.suggested().chain(candidates);
    let message = hint::for_calls(&fault.message, store);
    let data = json!({
        "code": fault.code.code(),
        "message": message,
        "hint": others.collect::<Vec<_>>().join("; "),
    });
    ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, message, Some(data))
}

/// Returns the result of a call that failed. It is framed because the message may quote a document.
pub(super) fn result(error: &Error, store: &str) -> CallToolResult {
    let text = framed(&compact(&json!({ "error": object(error, store) })), &[], true);
    CallToolResult::error(vec![ContentBlock::text(text)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_contain_codes_and_hints() {
        let error =
            Error::new(ErrorKind::Usage, "--depth is no number").with_hint("leave out --depth");
        let printed = serde_json::to_value(data(&error, "")).unwrap();
        assert_eq!(
            printed,
            json!({"code": -32602, "message": "depth is no number; leave out depth", "data":
                {"code": "USAGE", "message": "depth is no number", "hint": "leave out depth"}})
        );
        assert_eq!(code(ErrorKind::StoreNotFound).0, -32002);
        assert_eq!(code(ErrorKind::StoreCorrupt).0, -32603);
    }
}
