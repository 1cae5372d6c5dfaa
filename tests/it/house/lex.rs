//! A small reader of Rust text for the house rules: what is code and what is not, words and their lines, blocks.
//! It knows no grammar beyond that, and never judges.

/// The text with comments and the insides of literals blanked out; every line keeps its number and its length in
/// bytes.
pub(super) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = skip(bytes, at);
        if end == at {
            at += 1;
            continue;
        }
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8(out).expect("blanks whole literals and comments only")
}

/// Where the comment or literal ends that begins at `at`; `at` itself if none begins there.
fn skip(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let in_word = at > 0 && is_word(bytes[at - 1]);
    if rest.starts_with(b"//") {
        return at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        return block_comment(bytes, at);
    }
    if rest[0] == b'"' {
        return string(bytes, at);
    }
    if !in_word {
        for prefix in [&b"b"[..], b"c"] {
            if rest.starts_with(prefix) && rest.get(1) == Some(&b'"') {
                return string(bytes, at + 1);
            }
        }
        for prefix in [&b"r"[..], b"br", b"cr"] {
            if rest.starts_with(prefix)
                && let Some(end) = raw_string(bytes, at + prefix.len())
            {
                return end;
            }
        }
    }
    if rest[0] == b'\'' { character(bytes, at) } else { at }
}

fn block_comment(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// `start` is the opening quote.
fn string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `start` is behind the `r`. A raw identifier such as `r#type` is none.
fn raw_string(bytes: &[u8], start: usize) -> Option<usize> {
    let hashes = bytes[start..].iter().take_while(|byte| **byte == b'#').count();
    if bytes.get(start + hashes) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let body = start + hashes + 1;
    let found = bytes[body..].windows(close.len()).position(|window| window == close);
    Some(found.map_or(bytes.len(), |offset| body + offset + close.len()))
}

/// A character literal, not a lifetime: `'a'` and `'\n'`, but not `'a`.
fn character(bytes: &[u8], start: usize) -> usize {
    if bytes.get(start + 1) == Some(&b'\\') {
        // The escaped character may itself be a quote.
        let from = start + 3;
        let close = bytes.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'\''));
        return close.map_or(start, |offset| from + offset + 1);
    }
    let Ok(rest) = std::str::from_utf8(&bytes[start + 1..]) else { return start };
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        (Some(c), Some('\'')) if c != '\'' => start + 1 + c.len_utf8() + 1,
        _ => start,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A word, `::`, or one other character that is no blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Its characters.
    pub(super) text: &'a str,
    /// 1-based line.
    pub(super) line: usize,
}

/// The tokens of a text that [`code`] has cleaned.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < bytes.len() {
        let byte = bytes[at];
        let mut end = at + 1;
        if byte == b'\n' {
            line += 1;
        } else if is_word(byte) {
            while end < bytes.len() && is_word(bytes[end]) {
                end += 1;
            }
            found.push(Token { text: &code[at..end], line });
        } else if !byte.is_ascii_whitespace() {
            if code[at..].starts_with("::") {
                end += 1;
            }
            found.push(Token { text: &code[at..end], line });
        }
        at = end;
    }
    found
}

/// Whether the words at `at` are exactly these.
pub(super) fn stand(tokens: &[Token<'_>], at: usize, words: &[&str]) -> bool {
    tokens.get(at..at + words.len()).is_some_and(|found| found.iter().zip(words).all(|(a, b)| a.text == *b))
}

/// The index of the bracket that closes the one at `open`.
pub(super) fn close(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth -= 1;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// Token ranges, braces included, of the blocks of `#[cfg(test)]` modules.
pub(super) fn test_modules(tokens: &[Token<'_>]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if !stand(tokens, at, &["#", "[", "cfg", "(", "test", ")", "]"]) {
            continue;
        }
        let mut next = at + 7;
        while stand(tokens, next, &["#", "["]) {
            next = close(tokens, next + 1).map_or(tokens.len(), |end| end + 1);
        }
        while tokens
            .get(next)
            .is_some_and(|token| matches!(token.text, "pub" | "(" | "crate" | "super" | ")"))
        {
            next += 1;
        }
        if tokens.get(next).is_some_and(|token| token.text == "mod")
            && tokens.get(next + 2).is_some_and(|token| token.text == "{")
            && let Some(end) = close(tokens, next + 2)
        {
            found.push((at, end));
        }
    }
    found
}

/// Token ranges of `static` and `const` items whose value is a bracketed table.
pub(super) fn tables(tokens: &[Token<'_>]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let is_item = matches!(tokens[at].text, "static" | "const")
            && tokens.get(at + 2).is_some_and(|token| token.text == ":")
            && (at == 0 || tokens[at - 1].text != "'");
        if !is_item {
            continue;
        }
        let Some(end) = item_end(tokens, at) else { continue };
        let Some(equals) = tokens[at..end].iter().position(|token| token.text == "=") else { continue };
        let value = tokens[at + equals + 1..end].iter().find(|token| token.text != "&");
        if value.is_some_and(|token| token.text == "[") {
            found.push((at, end));
        }
    }
    found
}

/// The `;` that ends the item at `at`, outside of all brackets.
fn item_end(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut index = at;
    while let Some(token) = tokens.get(index) {
        match token.text {
            ";" => return Some(index),
            "(" | "[" | "{" => index = close(tokens, index)?,
            _ => {}
        }
        index += 1;
    }
    None
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Token of `fn`.
    pub(super) start: usize,
    /// Token of the `{` of the body.
    pub(super) open: usize,
    /// Token of the `}` of the body.
    pub(super) end: usize,
}

/// All functions with a body, nested ones and those of tests included.
pub(super) fn functions<'a>(tokens: &[Token<'a>]) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    for start in 0..tokens.len() {
        let Some(name) = tokens.get(start + 1) else { break };
        // `fn(u8)` is a type.
        if tokens[start].text != "fn" || !name.text.bytes().all(is_word) {
            continue;
        }
        let mut at = start + 2;
        while let Some(token) = tokens.get(at) {
            match token.text {
                ";" => break,
                "{" => {
                    let end = close(tokens, at).unwrap_or(tokens.len() - 1);
                    found.push(Function { name: name.text, start, open: at, end });
                    break;
                }
                "(" | "[" => at = close(tokens, at).unwrap_or(tokens.len()),
                _ => {}
            }
            at += 1;
        }
    }
    found
}

impl Function<'_> {
    /// The token range of the arms if the body ends with a `match` as its value that has an arm for everything (no
    /// `_ =>` of its own): its arms are a table, not a long function.
    pub(super) fn exhaustive_match(&self, tokens: &[Token<'_>]) -> Option<(usize, usize)> {
        let mut at = self.open + 1;
        let mut is_start = true;
        while at < self.end {
            if is_start && tokens[at].text == "match" {
                let open = arms_open(tokens, at, self.end)?;
                let end = close(tokens, open)?;
                if end + 1 == self.end {
                    return (!has_wildcard_arm(&tokens[open + 1..end])).then_some((open, end));
                }
                at = end;
            }
            // A statement begins behind `;` or a block.
            is_start = matches!(tokens[at].text, ";" | "{" | "}");
            if matches!(tokens[at].text, "(" | "[" | "{") {
                let opened = tokens[at].text;
                at = close(tokens, at)?;
                is_start = opened == "{";
            }
            at += 1;
        }
        None
    }
}

/// The `{` of the arms of the `match` at `at`.
fn arms_open(tokens: &[Token<'_>], at: usize, end: usize) -> Option<usize> {
    let mut at = at + 1;
    while at < end {
        match tokens[at].text {
            "{" => return Some(at),
            "(" | "[" => at = close(tokens, at)?,
            _ => {}
        }
        at += 1;
    }
    None
}

fn has_wildcard_arm(arms: &[Token<'_>]) -> bool {
    let mut at = 0;
    while at < arms.len() {
        if stand(arms, at, &["_", "=", ">"]) || stand(arms, at, &["_", "if"]) {
            return true;
        }
        if matches!(arms[at].text, "(" | "[" | "{") {
            at = close(arms, at).unwrap_or(arms.len());
        }
        at += 1;
    }
    false
}
