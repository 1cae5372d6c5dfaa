//! The table of requests: from a method to what answers it. A request that cannot be read is refused, and a fault of
//! ours while answering is an error of that one answer.

use super::view::{Refusal, View};
use super::{actions, answers, outlines};
use lsp_server::{ErrorCode, Request, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Answers a request about documents.
pub(super) fn answer(view: View<'_>, request: Request) -> Response {
    let Request { id, method, params } = request;
    // The view is only read, so nothing half done can be left behind.
    let outcome = catch_unwind(AssertUnwindSafe(|| dispatch(view, &method, params)));
    match outcome {
        Ok(Ok(value)) => Response::new_ok(id, value),
        Ok(Err(refusal)) => Response::new_err(id, refusal.code as i32, refusal.message),
        Err(_) => {
            let message = format!("a fault of ours while answering `{method}`; please report it");
            Response::new_err(id, ErrorCode::InternalError as i32, message)
        }
    }
}

fn dispatch(view: View<'_>, method: &str, params: Value) -> Result<Value, Refusal> {
    match method {
        "textDocument/hover" => with(params, |asked| answers::hover(view, asked)),
        "textDocument/completion" => with(params, |asked| answers::completion(view, asked)),
        "textDocument/definition" => with(params, |asked| answers::definition(view, asked)),
        "textDocument/references" => with(params, |asked| answers::references(view, asked)),
        "textDocument/prepareRename" => with(params, |asked| answers::prepare_rename(view, asked)),
        "textDocument/rename" => with(params, |asked| answers::rename(view, asked)),
        "textDocument/documentSymbol" => with(params, |asked| outlines::symbols(view, asked)),
        "textDocument/foldingRange" => with(params, |asked| outlines::folds(view, asked)),
        "textDocument/semanticTokens/full" => with(params, |asked| outlines::tokens(view, asked)),
        "textDocument/semanticTokens/range" => with(params, |asked| outlines::tokens_within(view, asked)),
        "textDocument/inlayHint" => with(params, |asked| outlines::inlays(view, asked)),
        "textDocument/formatting" => with(params, |asked| outlines::formatting(view, asked)),
        "textDocument/codeAction" => with(params, |asked| actions::actions(view, &asked)),
        _ => Err(Refusal::new(ErrorCode::MethodNotFound, format!("there is no method `{method}` here"))),
    }
}

/// Reads the parameters, answers, and writes the answer as JSON.
fn with<P: DeserializeOwned, R: Serialize>(
    params: Value,
    handle: impl FnOnce(P) -> Result<R, Refusal>,
) -> Result<Value, Refusal> {
    let params = serde_json::from_value(params).map_err(|error| {
        Refusal::new(ErrorCode::InvalidParams, format!("the parameters cannot be read: {error}"))
    })?;
    serde_json::to_value(handle(params)?)
        .map_err(|error| Refusal::new(ErrorCode::InternalError, format!("the answer is no JSON: {error}")))
}
