//! Which protocol a server speaks, in whose manner, and where it is asked. Sends nothing.

use reqwest::Url;

/// A protocol and its dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavor {
    /// Chat completions.
    OpenAi,
    /// Chat completions in Mistral's manner: short ids of calls, no unknown keys, a fixed order of roles.
    Mistral,
    /// Chat completions in Moonshot's manner: thinking goes back, ids of calls tell the tool.
    Kimi,
    /// Anthropic's messages.
    Claude,
}

impl Flavor {
    /// Without a word, and with one that nobody knows, chat completions.
    pub(super) fn of(word: Option<&str>) -> Self {
        match word {
            Some("MistralV1" | "mistral-v1") => Self::Mistral,
            Some("KimiV1" | "kimi-v1") => Self::Kimi,
            Some("ClaudeV1" | "claude-v1") => Self::Claude,
            Some(_) | None => Self::OpenAi,
        }
    }

    /// The URL that is asked, for the base that the agent names. A query of the base is kept.
    ///
    /// # Errors
    /// One sentence that shows neither passwords nor the query.
    pub(super) fn endpoint(self, base: &str) -> Result<Url, String> {
        let mut url = Url::parse(base).map_err(|error| format!("modelUrl is no URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = url.scheme();
            return Err(format!("modelUrl has the scheme `{scheme}`; it takes http, https or script"));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let whole = match self {
            Self::OpenAi | Self::Mistral | Self::Kimi if path.ends_with("/chat/completions") => path,
            Self::OpenAi | Self::Mistral | Self::Kimi => format!("{path}/chat/completions"),
            Self::Claude if path.ends_with("/messages") => path,
            Self::Claude if path.ends_with("/v1") => format!("{path}/messages"),
            Self::Claude => format!("{path}/v1/messages"),
        };
        url.set_path(&whole);
        url.set_fragment(None);
        Ok(url)
    }
}
