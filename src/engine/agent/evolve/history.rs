//! A history taken from elsewhere in the place of the one that is there. Judges none of it.

use super::super::event::SUBMIT_TOOL;
use super::super::state::{State, Turn};
use super::super::track;

/// Puts `turns` where the history was. Numbers of replies go on behind all that were ever used, so that no id of a
/// call comes twice.
pub(super) fn import(state: &mut State, turns: &[Turn]) {
    state.asking = None;
    state.notes.clear();
    state.shared.clear();
    state.submitted = false;
    let mut calls_made = 0_u32;
    for turn in turns {
        if let Turn::Reply { reply, calls, .. } = turn {
            state.replies = state.replies.max(*reply);
            let counted = calls.iter().filter(|call| call.made.name != SUBMIT_TOOL).count();
            calls_made = calls_made.saturating_add(u32::try_from(counted).unwrap_or(u32::MAX));
        }
    }
    state.calls_made = state.calls_made.max(calls_made);
    state.turns = turns.iter().cloned().collect();
    // Behind words of a person, and behind answers that the model has not seen, the model is owed.
    if matches!(state.turns.last(), Some(Turn::Said { .. })) && !track::turn_is_open(state) {
        super::ask(state);
    }
}
