//! How much place a text takes, without any font: widths of a wide sans-serif, so that no common font overflows what
//! is drawn around it. Nothing here draws.

/// Advance widths of ASCII from the space on, in thousandths of the font size.
const ASCII: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636,
    636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295,
    295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838,
    500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521,
    392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// A size and whether it is bold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Font {
    pub size: f64,
    pub bold: bool,
    pub mono: bool,
}

impl Font {
    pub(super) const fn plain(size: f64) -> Self {
        Self { size, bold: false, mono: false }
    }

    pub(super) const fn bold(size: f64) -> Self {
        Self { size, bold: true, mono: false }
    }

    pub(super) const fn mono(size: f64) -> Self {
        Self { size, bold: false, mono: true }
    }

    /// Width of a text in this font.
    pub(super) fn width(self, text: &str) -> f64 {
        text.chars().map(|c| self.advance(c)).sum()
    }

    fn advance(self, c: char) -> f64 {
        let code = if c == '\u{a0}' { 32 } else { u32::from(c) };
        let place = usize::try_from(code).unwrap_or(usize::MAX).wrapping_sub(32);
        let em = match ASCII.get(place) {
            Some(_) if self.mono => 0.61,
            Some(width) => f64::from(*width) / 1000.0,
            // Marks that stand over the letter before them.
            None if (0x300..0x370).contains(&code) => 0.0,
            // Scripts whose letters are as wide as high, and pictures.
            None if code >= 0x1100 => 1.1,
            None => 0.7,
        };
        em * self.size * if self.bold { 1.09 } else { 1.0 }
    }

    /// Lines of at most `room`; the last of `most` lines ends in `…` where more follows. Gives at least one line,
    /// and whether something was left out.
    pub(super) fn wrap(self, text: &str, room: f64, most: usize) -> (Vec<String>, bool) {
        let mut lines: Vec<String> = Vec::new();
        let mut line = String::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if self.width(&longer) <= room {
                line = longer;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            if lines.len() >= most {
                break;
            }
            let mut pieces = self.pieces(word, room, most);
            line = pieces.pop().unwrap_or_default();
            lines.append(&mut pieces);
        }
        if !line.is_empty() || lines.is_empty() {
            lines.push(line);
        }
        let shown: usize =
            lines.iter().take(most).map(|line| line.chars().filter(|c| *c != ' ').count()).sum();
        let whole = text.chars().filter(|c| *c != ' ').count();
        lines.truncate(most);
        let cut = shown < whole;
        if cut && let Some(last) = lines.last_mut() {
            *last = self.ended(last, room);
        }
        (lines, cut)
    }

    /// A word broken where it is wider than the room; no more pieces than anybody will draw.
    fn pieces(self, word: &str, room: f64, most: usize) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut width = 0.0;
        for c in word.chars() {
            let advance = self.advance(c);
            if width + advance > room && !piece.is_empty() {
                pieces.push(std::mem::take(&mut piece));
                width = 0.0;
                if pieces.len() > most {
                    break;
                }
            }
            piece.push(c);
            width += advance;
        }
        pieces.push(piece);
        pieces
    }

    /// The text with `…` at its end, shortened until it fits.
    fn ended(self, text: &str, room: f64) -> String {
        let mut kept = text.to_owned();
        while !kept.is_empty() && self.width(&kept) + self.advance('…') > room {
            kept.pop();
        }
        format!("{}…", kept.trim_end())
    }

    /// The text in one line, cut where it is too wide.
    pub(super) fn cut(self, text: &str, room: f64) -> String {
        if self.width(text) <= room { text.to_owned() } else { self.ended(text, room) }
    }
}
