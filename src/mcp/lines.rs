//! The stdio transport of MCP: one message per line.
//!
//! Invariants: a line that is not a message gets an error; a line that is too long is skipped and
//! gets an error; memory for a line never exceeds the limit; after the end of the input all open
//! requests are still answered.

use std::collections::HashSet;
use std::io::{self, BufRead, Read as _, Write};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcError, JsonRpcMessage,
    RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::limits;

/// Lines that may wait to be parsed.
const WAITING: usize = 64;

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

type Output = Arc<Mutex<Box<dyn Write + Send>>>;

/// The state of the conversation.
#[derive(Debug, Default)]
struct Conversation {
    /// Requests that have not been answered yet.
    open: HashSet<RequestId>,
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

    fn refuse(&self, error: ErrorData, id: Option<RequestId>) -> io::Result<()> {
        write(&self.output, &ServerJsonRpcMessage::error(error, id))
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
                let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
                self.refuse(ErrorData::invalid_request(error.to_string(), None), id)
            }
        };
        refused.map(|()| None)
    }
}

impl LineTransport {
    /// Updates the state of the conversation. Returns whether the message must be processed.
    fn takes(&self, message: &ClientJsonRpcMessage) -> bool {
        let mut takes = true;
        self.state.send_modify(|state| match message {
            JsonRpcMessage::Request(request) => {
                state.open.insert(request.id.clone());
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
                Ok(Some(message)) if self.takes(&message) => return Some(message),
                Ok(_) => {}
            }
        }
        drop(states.wait_for(|state| state.is_over || state.open.is_empty()).await);
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

fn write(output: &Output, message: &ServerJsonRpcMessage) -> io::Result<()> {
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
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(bytes.len(), |end| end + 1);
        let is_end = bytes.is_empty() || end.is_some();
        input.consume(length);
        if is_end {
            return Ok(());
        }
    }
}
