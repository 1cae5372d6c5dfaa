//! Parts of a JSON text as they were written: a parsed number loses the form of its exponent (B46). Takes texts that
//! have been parsed before and finds nothing in others; changes nothing.

/// The value under a key of an object; of the last, if the key is there more than once.
pub(in crate::host) fn member<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut parts = parts(text, b'{')?.into_iter();
    let mut found = None;
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        if name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) == Some(key) {
            found = Some(value);
        }
    }
    found
}

/// The values of an array.
pub(super) fn items(text: &str) -> Option<Vec<&str>> {
    parts(text, b'[')
}

/// The value behind keys, one inside the other.
pub(super) fn inside<'a>(text: &'a str, keys: &[&str]) -> Option<&'a str> {
    keys.iter().try_fold(text, |text, key| member(text, key))
}

/// Whether a value written anew has every number of a text as it stood there.
pub(in crate::host) fn keeps_numbers(text: &str, value: &serde_json::Value) -> bool {
    numbers(text) == numbers(&value.to_string())
}

/// The numbers of a JSON text, in order.
fn numbers(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'"' => {
                let Some(end) = end_of_string(bytes, at) else { return found };
                at = end;
                continue;
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                at += bytes.iter().skip(at).take_while(|byte| is_part(byte)).count();
                found.extend(text.get(start..at));
            }
            _ => at += 1,
        }
    }
    found
}

/// Names and values of an object, or the values of an array, in order.
fn parts(text: &str, opening: u8) -> Option<Vec<&str>> {
    let bytes = text.as_bytes();
    let mut at = gap(bytes, 0);
    if bytes.get(at) != Some(&opening) {
        return None;
    }
    let mut found = Vec::new();
    at += 1;
    loop {
        at = gap(bytes, at);
        match bytes.get(at)? {
            b'}' | b']' => return Some(found),
            b',' | b':' => at += 1,
            _ => {
                let end = end(bytes, at)?;
                found.push(text.get(at..end)?);
                at = end;
            }
        }
    }
}

fn gap(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Where the value that begins here ends.
fn end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    loop {
        match bytes.get(at) {
            Some(b'"') => at = end_of_string(bytes, at)?,
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
            }
            Some(b'}' | b']') if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            Some(b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r') | None if depth == 0 => {
                return Some(at);
            }
            Some(_) => {
                at += 1;
                continue;
            }
            None => return None,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
