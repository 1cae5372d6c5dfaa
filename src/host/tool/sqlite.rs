//! Queries on an SQLite file of the package: the tool `sqlite_<name>_query`. Read-only unless the definition says
//! otherwise; one statement a call; other files cannot be attached.

use super::bash::timeout_of;
use super::builtin::OneTool;
use super::given::Given;
use super::paths;
use crate::host::perform::{Output, ToolRequest, ToolSpec};
use base64::Engine as _;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::limits::Limit;
use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Batch, Connection, OpenFlags, Statement};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// The toolbox.
#[derive(Clone, Debug)]
pub struct Sqlite {
    name: String,
    description: String,
    path: String,
    writable: bool,
}

/// Rows that one call gives at most.
const MOST_ROWS: usize = 1_000;
/// Bytes of text and blobs that one call gives at most.
const MOST_BYTES: usize = 1024 * 1024;
const BUSY: Duration = Duration::from_secs(5);

impl Sqlite {
    /// Of a package path.
    #[must_use]
    pub fn new(name: &str, description: &str, path: &str, writable: bool) -> Self {
        let [name, description, path] = [name, description, path].map(str::to_owned);
        Self { name, description, path, writable }
    }

    fn open(&self, root: &Path) -> Result<Connection, String> {
        let file = paths::inside(root, &self.path)?;
        let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        paths::not_the_store(&self.path, file.strip_prefix(&real).unwrap_or(&file))?;
        let fault = |error: rusqlite::Error| format!("`{}` cannot be opened: {error}", self.path);
        let access =
            if self.writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
        let connection =
            Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(fault)?;
        connection.busy_timeout(BUSY).map_err(fault)?;
        // No other file through ATTACH, and VACUUM INTO needs one too.
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0).map_err(fault)?;
        let pragma = if self.writable { "foreign_keys" } else { "query_only" };
        connection.pragma_update(None, pragma, true).map_err(fault)?;
        Ok(connection)
    }
}

impl OneTool for Sqlite {
    fn spec(&self) -> ToolSpec {
        let about = if self.description.is_empty() { "An SQLite database." } else { &self.description };
        let access = if self.writable { "one SQL statement" } else { "one reading SQL statement" };
        ToolSpec {
            name: format!("sqlite_{}_query", self.name),
            description: format!(
                "{about} Runs {access} and gives at most {MOST_ROWS} rows; the tables are in `sqlite_schema`."
            ),
            parameters: json!({
                "type": "object",
                "required": ["query"],
                "additionalProperties": false,
                "properties": {
                    "query": { "type": "string", "description": "The statement, with `?` for each value" },
                    "values": { "type": "array", "description": "The values, in order",
                        "items": { "type": ["string", "number", "boolean", "null"] } }
                }
            }),
            repeatable: !self.writable,
        }
    }

    fn run(&self, root: &Path, request: &ToolRequest) -> Result<Output, String> {
        let given = Given::of(request, &["query", "values"])?;
        let query = given.must("query")?;
        let values = cells(given.value("values"))?;
        let connection = self.open(root)?;
        let timeout = timeout_of(request);
        let handle = connection.get_interrupt_handle();
        let (done, waiting) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if waiting.recv_timeout(timeout) == Err(mpsc::RecvTimeoutError::Timeout) {
                    handle.interrupt();
                }
            });
            let result = answer(&connection, query, &values, self.writable);
            drop(done);
            result.map_err(|fault| match fault {
                Fault::Said(why) => why,
                Fault::Sqlite(error)
                    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
                {
                    format!("the statement was ended after {} s", timeout.as_secs())
                }
                Fault::Sqlite(error) => format!("the statement failed: {error}"),
            })
        })
    }
}

/// Why there is no answer.
enum Fault {
    Said(String),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn answer(connection: &Connection, query: &str, values: &[Cell], is_writable: bool) -> Result<Output, Fault> {
    let mut batch = Batch::new(connection, query);
    let Some(mut statement) = batch.next()? else {
        return Err(Fault::Said("`query` holds no statement".to_owned()));
    };
    if !matches!(batch.next(), Ok(None)) {
        return Err(Fault::Said("`query` holds more than one statement; one is run at a time".to_owned()));
    }
    if !is_writable && !statement.readonly() {
        return Err(Fault::Said("this database may only be read".to_owned()));
    }
    let wanted = statement.parameter_count();
    if wanted != values.len() {
        let count = values.len();
        return Err(Fault::Said(format!("the statement takes {wanted} values; `values` holds {count}")));
    }
    if statement.column_count() == 0 {
        let changed = statement.execute(rusqlite::params_from_iter(values))?;
        return Ok(Output::Json(json!({ "changed": changed })));
    }
    rows(&mut statement, values)
}

fn rows(statement: &mut Statement<'_>, values: &[Cell]) -> Result<Output, Fault> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut found = statement.query(rusqlite::params_from_iter(values))?;
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut cut = None;
    while let Some(row) = found.next()? {
        if rows.len() == MOST_ROWS {
            cut = Some(format!("at most {MOST_ROWS} rows are given; ask for fewer"));
            break;
        }
        let mut cells = Vec::with_capacity(columns.len());
        for i in 0..columns.len() {
            let (cell, length) = shown(row.get_ref(i)?);
            bytes += length;
            cells.push(cell);
        }
        if bytes > MOST_BYTES {
            cut = Some(format!("at most {MOST_BYTES} bytes are given; ask for fewer rows or columns"));
            break;
        }
        rows.push(Value::Array(cells));
    }
    let mut said = Map::new();
    said.insert("columns".to_owned(), columns.into());
    said.insert("rows".to_owned(), rows.into());
    if let Some(cut) = cut {
        said.insert("cut".to_owned(), cut.into());
    }
    Ok(Output::Json(Value::Object(said)))
}

/// A cell as JSON, and how much it counts.
fn shown(cell: ValueRef<'_>) -> (Value, usize) {
    match cell {
        ValueRef::Null => (Value::Null, 1),
        ValueRef::Integer(number) => (number.into(), 8),
        ValueRef::Real(number) => (number.into(), 8),
        ValueRef::Text(text) => (String::from_utf8_lossy(text).into_owned().into(), text.len()),
        ValueRef::Blob(blob) => {
            let text = base64::engine::general_purpose::STANDARD.encode(blob);
            (json!({ "base64": text }), blob.len())
        }
    }
}

/// Values of a call as SQLite takes them.
fn cells(values: Option<&Value>) -> Result<Vec<Cell>, String> {
    let list = match values {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err("`values` must be a list".to_owned()),
    };
    let cell = |(i, value): (usize, &Value)| match value {
        Value::Null => Ok(Cell::Null),
        Value::Bool(truth) => Ok(Cell::Integer(i64::from(*truth))),
        Value::String(text) => Ok(Cell::Text(text.clone())),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Ok(Cell::Integer(whole)),
            // An integer that SQLite cannot hold would be rounded.
            (None, _) if number.to_string().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
                Err(format!("value {} is an integer that SQLite cannot hold: give it as text", i + 1))
            }
            (None, Some(real)) => Ok(Cell::Real(real)),
            (None, None) => Err(format!("value {} is no number that SQLite can hold", i + 1)),
        },
        Value::Array(_) | Value::Object(_) => Err(format!("value {} is no single value", i + 1)),
    };
    list.iter().enumerate().map(cell).collect()
}
