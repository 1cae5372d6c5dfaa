//! Server-sent events from bytes, however these are cut. Knows nothing of what the events mean.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// What `event:` said; empty without it.
    pub name: String,
    /// The `data:` lines, joined by line ends.
    pub data: String,
}

/// Why bytes are no stream of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A line is not UTF-8.
    NotUtf8,
    /// An event is longer than the bound.
    TooLong,
}

/// Reads a stream. Lines end with LF, CR or both; a character may come in several pieces.
#[derive(Debug)]
pub struct Reader {
    most_bytes: usize,
    line: Vec<u8>,
    after_cr: bool,
    begun: bool,
    name: String,
    data: Option<String>,
}

impl Reader {
    /// Events longer than the bound are refused.
    #[must_use]
    pub fn new(most_bytes: usize) -> Self {
        Self { most_bytes, line: Vec::new(), after_cr: false, begun: false, name: String::new(), data: None }
    }

    /// Takes bytes, adds the events that are whole now.
    ///
    /// # Errors
    /// What is wrong with the stream; nothing behind it can be trusted.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), Broken> {
        let mut rest = bytes;
        if std::mem::take(&mut self.after_cr) {
            // Set again below if nothing came.
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            self.after_cr = bytes.is_empty();
        }
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, behind) = rest.split_at(at);
            self.line.extend_from_slice(line);
            let is_cr = behind.first() == Some(&b'\r');
            rest = behind.get(1..).unwrap_or_default();
            if is_cr {
                self.after_cr = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            self.end_line(events)?;
        }
        self.line.extend_from_slice(rest);
        self.bounded()
    }

    /// The end of the stream. An event that only lacks its blank line is given too: whether it is whole shows in its
    /// data.
    ///
    /// # Errors
    /// As for [`Reader::push`].
    pub fn end(&mut self, events: &mut Vec<Event>) -> Result<(), Broken> {
        if !self.line.is_empty() {
            self.end_line(events)?;
        }
        self.dispatch(events);
        Ok(())
    }

    fn bounded(&self) -> Result<(), Broken> {
        let length = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if length > self.most_bytes { Err(Broken::TooLong) } else { Ok(()) }
    }

    fn end_line(&mut self, events: &mut Vec<Event>) -> Result<(), Broken> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = std::str::from_utf8(&bytes).map_err(|_| Broken::NotUtf8)?;
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(events);
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.name),
            // Comments, ids and times of reconnection say nothing here.
            _ => {}
        }
        self.bounded()
    }

    fn dispatch(&mut self, events: &mut Vec<Event>) {
        let name = std::mem::take(&mut self.name);
        if let Some(data) = self.data.take() {
            events.push(Event { name, data });
        }
    }
}
