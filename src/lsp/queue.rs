//! Messages that wait. All that have arrived are taken in before the first is looked at, so that a request that was
//! cancelled meanwhile is never computed and a burst of changes is compiled once. Nothing here answers anything else.

use lsp_server::{Connection, ErrorCode, Message, RequestId, Response};
use serde::Deserialize;
use std::collections::VecDeque;

#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Message>,
}

#[derive(Deserialize)]
struct Cancel {
    id: RequestId,
}

impl Queue {
    /// The next message, if one has arrived.
    pub(super) fn next(&mut self, connection: &Connection) -> Option<Message> {
        while let Ok(message) = connection.receiver.try_recv() {
            self.take_in(message, connection);
        }
        self.waiting.pop_front()
    }

    /// Waits for a message; false if none can come any more.
    pub(super) fn wait(&mut self, connection: &Connection) -> bool {
        let Ok(message) = connection.receiver.recv() else { return false };
        self.take_in(message, connection);
        true
    }

    fn take_in(&mut self, message: Message, connection: &Connection) {
        let cancelled = match &message {
            Message::Notification(one) if one.method == "$/cancelRequest" => {
                // What cannot be understood cancels nothing.
                let cancel = serde_json::from_value::<Cancel>(one.params.clone());
                cancel.map(|cancel| Some(cancel.id)).ok()
            }
            Message::Notification(_) | Message::Request(_) | Message::Response(_) => Some(None),
        };
        match cancelled {
            Some(None) => self.waiting.push_back(message),
            Some(Some(id)) => self.cancel(&id, connection),
            None => {}
        }
    }

    /// A request that still waits is answered at once; one that was answered is not waiting any more.
    fn cancel(&mut self, id: &RequestId, connection: &Connection) {
        let is_it = |message: &Message| matches!(message, Message::Request(request) if request.id == *id);
        let Some(at) = self.waiting.iter().position(is_it) else { return };
        self.waiting.remove(at);
        let code = ErrorCode::RequestCanceled as i32;
        let answer = Response::new_err(id.clone(), code, "cancelled by the client".to_owned());
        // A client that is gone needs no answer.
        let _ = connection.sender.send(answer.into());
    }
}
