//! The stdio transport of MCP: one message per line.
//!
//! Invariants: a line that is not a message gets an error; a line that is too long is skipped and
//! gets an error; memory for a line, and for all open requests, never exceeds the limits; after the end of the input all
//! open requests are still answered.

use std::collections::HashMap;
use std::io::{self, BufRead, Read as _, Write};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta as _, JsonRpcError,
    JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::fault;
use crate::limits;

/// Lines that may wait to be parsed.
const WAITING: usize = 2;

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

impl Line {
    /// Returns the number of bytes that are kept of the line.
    fn length(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::TooLong => 0,
        }
    }
}

type Output = Arc<Mutex<Box<dyn Write + Send>>>;

/// The state of the conversation.
#[derive(Debug, Default)]
struct Conversation {
    /// The requests that have not been answered yet, and the bytes of each.
    open: HashMap<RequestId, usize>,
    /// Whether a session has begun. Before that, all messages except requests are ignored.
    has_begun: bool,
    /// Whether writing an answer has failed.
    is_over: bool,
}

/// A transport that reads and writes one message per line.
pub(super) struct LineTransport {
    input: mpsc::Receiver<Line>,
    output: Output,
    state: Arc<watch::Sender<Conversation>>,
}

impl LineTransport {
    /// Starts a thread that reads `input`, so that reading may block.
    pub(super) fn new(
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, lines) = mpsc::channel(WAITING);
        std::thread::Builder::new().name("input".to_owned()).spawn(move || read(input, &sender))?;
        let output: Output = Arc::new(Mutex::new(Box::new(output)));
        Ok(Self { input: lines, output, state: Arc::new(watch::Sender::default()) })
    }

    /// Sends an error. `id` is that of the request, as it is written, which need not be an id that the protocol allows.
    fn refuse(&self, error: ErrorData, id: Option<&Value>) -> io::Result<()> {
        let mut message = serde_json::to_value(ServerJsonRpcMessage::error(error, None))?;
        if let Some(id) = id.filter(|id| id.is_number() || id.is_string()) {
            message["id"] = id.clone();
        }
        write(&self.output, &message)
    }

    /// Parses the message of a line. Returns `None` if the line is blank, or if an error was sent
    /// instead.
    fn message(&self, line: &Line) -> io::Result<Option<ClientJsonRpcMessage>> {
        let Line::Whole(bytes) = line else {
            let message = format!("a message has more than {} bytes", limits::MAX_REQUEST_BYTES);
            return self.refuse(ErrorData::invalid_request(message, None), None).map(|()| None);
        };
        if bytes.trim_ascii().is_empty() {
            return Ok(None);
        }
        let error = match serde_json::from_slice(bytes) {
            Ok(message) => return Ok(Some(message)),
            Err(error) => error,
        };
        let refused = match serde_json::from_slice::<Value>(bytes) {
            Err(error) => self.refuse(ErrorData::parse_error(error.to_string(), None), None),
            Ok(value) => {
                let id = value.get("id");
                let is_wrong = id.is_some_and(|id| id.is_number() && !id.is_i64());
                let message = if is_wrong {
                    "the id is no whole number from -2^63 to 2^63 - 1".to_owned()
                } else {
                    error.to_string()
                };
                self.refuse(ErrorData::invalid_request(message, None), id)
            }
        };
        refused.map(|()| None)
    }

    /// Answers a request of `bytes` bytes with an error if it comes before the session, has the id of an open request,
    /// or there is no room for it. Cancellations are always read, so a client can make room.
    fn accepts(&self, message: &ClientJsonRpcMessage, bytes: usize) -> io::Result<bool> {
        let JsonRpcMessage::Request(request) = message else { return Ok(true) };
        let error = {
            let state = self.state.borrow();
            let open: usize = state.open.values().sum();
            if !state.has_begun && needs_session(&request.request) {
                let message = "no session has begun; send `initialize` first";
                ErrorData::invalid_request(message, None)
            } else if state.open.contains_key(&request.id) {
                let message = "an open request has this id; give each request its own";
                ErrorData::invalid_request(message, None)
            } else if open == 0 || open.saturating_add(bytes) <= limits::OPEN_REQUEST_BYTES {
                return Ok(true);
            } else {
                let error = limits::exceeded(limits::row::OPEN_REQUEST_BYTES);
                fault::data(&error.with_hint("wait for an answer, then repeat the call"), "")
            }
        };
        self.refuse(error, serde_json::to_value(&request.id).ok().as_ref())?;
        Ok(false)
    }

    /// Updates the state of the conversation after a message of `bytes` bytes. Returns whether it must be processed.
    fn takes(&self, message: &ClientJsonRpcMessage, bytes: usize) -> bool {
        let mut takes = true;
        self.state.send_modify(|state| match message {
            JsonRpcMessage::Request(request) => {
                state.open.insert(request.id.clone(), bytes);
                state.has_begun |= matches!(request.request, ClientRequest::InitializeRequest(_));
            }
            JsonRpcMessage::Notification(notification) => {
                takes = state.has_begun;
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    state.open.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => takes = state.has_begun,
        });
        takes
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, state) = (Arc::clone(&self.output), Arc::clone(&self.state));
        async move {
            let written = write(&output, &message);
            state.send_modify(|state| {
                state.is_over |= written.is_err();
                match &message {
                    JsonRpcMessage::Response(response) => {
                        state.open.remove(&response.id);
                        state.has_begun |= !matches!(
                            response.result,
                            ServerResult::EmptyResult(_) | ServerResult::DiscoverResult(_)
                        );
                    }
                    JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) => {
                        state.open.remove(id);
                    }
                    _ => {}
                }
            });
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut states = self.state.subscribe();
        loop {
            let line = tokio::select! {
                // The sender lives as long as `self`, so this wait cannot fail.
                _ = states.wait_for(|state| state.is_over) => return None,
                line = self.input.recv() => line,
            };
            let Some(line) = line else { break };
            match self.message(&line) {
                // Nobody reads the answers any more.
                Err(_) => return None,
                Ok(Some(message)) => match self.accepts(&message, line.length()) {
                    Err(_) => return None,
                    Ok(true) if self.takes(&message, line.length()) => return Some(message),
                    Ok(_) => {}
                },
                Ok(None) => {}
            }
        }
        drop(states.wait_for(|state| state.is_over || state.open.is_empty()).await);
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// Returns whether a request is answered only in a session. One that gives the version of the protocol begins its own.
fn needs_session(request: &ClientRequest) -> bool {
    let is_first = matches!(
        request,
        ClientRequest::InitializeRequest(_)
            | ClientRequest::PingRequest(_)
            | ClientRequest::DiscoverRequest(_)
    );
    !is_first && request.get_meta().protocol_version().is_none()
}

fn write(output: &Output, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(&line)?;
    output.flush()
}

/// Reads lines until the input ends or the receiver is dropped.
fn read(mut input: impl BufRead, lines: &mpsc::Sender<Line>) {
    let most = limits::MAX_REQUEST_BYTES;
    loop {
        let mut bytes = Vec::new();
        let limit = most as u64 + 1;
        if !matches!(input.by_ref().take(limit).read_until(b'\n', &mut bytes), Ok(1..)) {
            return;
        }
        let is_whole = bytes.len() <= most || bytes.ends_with(b"\n");
        if !is_whole && skip_line(&mut input).is_err() {
            return;
        }
        let line = if is_whole { Line::Whole(bytes) } else { Line::TooLong };
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Skips the rest of a line without storing it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = input.fill_buf()?;
        let end = memchr::memchr(b'\n', bytes);
        let length = end.map_or(bytes.len(), |end| end + 1);
        let is_end = bytes.is_empty() || end.is_some();
        input.consume(length);
        if is_end {
            return Ok(());
        }
    }
}
