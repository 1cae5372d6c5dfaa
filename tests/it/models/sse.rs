//! The reader of event streams by itself: however bytes are cut, the events are the same.

use flowright::host::model::sse::{Broken, Event, Reader};
use proptest::prelude::{ProptestConfig, any, prop, proptest};

fn read(pieces: &[&[u8]]) -> Result<Vec<Event>, Broken> {
    let mut reader = Reader::new(10_000);
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece, &mut events)?;
    }
    reader.end(&mut events)?;
    Ok(events)
}

fn event(name: &str, data: &str) -> Event {
    Event { name: name.to_owned(), data: data.to_owned() }
}

#[test]
fn fields_comments_and_line_ends() {
    let text = "\u{feff}: hello\r\nevent: ping\r\ndata:a\r\ndata:  b\r\n\r\nid: 7\nretry: 1\n\ndata\rdata:x:y\r\r:\n\ndata: last";
    let wanted = [event("ping", "a\n b"), event("", "\nx:y"), event("", "last")];
    assert_eq!(read(&[text.as_bytes()]).unwrap(), wanted);
}

#[test]
fn a_name_alone_is_no_event() {
    assert_eq!(read(&[b"event: a\n\ndata: 1\n\n"]).unwrap(), [event("", "1")]);
}

#[test]
fn bounds_and_bytes_that_are_no_text() {
    assert_eq!(read(&[b"data: \xf0\x28\n\n"]), Err(Broken::NotUtf8));
    assert_eq!(read(&[&[b'x'; 10_001]]), Err(Broken::TooLong));
    let many = b"data: 12345678\n".repeat(1_500);
    assert_eq!(read(&[&many]), Err(Broken::TooLong));
}

const PARTS: [&str; 12] = [
    "data: ",
    "data:ü",
    "€\u{1f600}",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    ": c",
    "event: e",
    "\u{feff}",
    "{\"a\":1}",
    "x",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cuts_change_nothing(
        parts in prop::collection::vec(0..PARTS.len(), 0..40),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let text: String = parts.iter().map(|part| PARTS[*part]).collect();
        let bytes = text.as_bytes();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let pieces: Vec<&[u8]> = places.windows(2).map(|two| &bytes[two[0]..two[1]]).collect();
        assert_eq!(read(&pieces), read(&[bytes]));
    }
}
