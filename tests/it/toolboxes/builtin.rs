//! The built-in toolboxes and skills, called as the host calls them.

use super::{Desk, block_on, fault};
use flowright::host::perform::Output;
use flowright::host::tool::registry::{self, Registry};
use flowright::host::tool::toolbox::{Kit, Place};
use serde_json::{Value, json};

impl Desk {
    pub(super) fn place(&self) -> Place {
        Place { root: self.path().to_path_buf(), session: flowright::engine::SessionId("s-1".to_owned()) }
    }

    /// A call through the registry.
    fn ask(&self, name: &str, arguments: &Value) -> Output {
        let boxes = Registry::new(Kit::default()).boxes(&self.agent, self.path());
        block_on(registry::call(&boxes, &self.place(), self.request(name, &arguments.to_string())))
    }

    fn names(&self) -> Vec<String> {
        let boxes = Registry::new(Kit::default()).boxes(&self.agent, self.path());
        let listing = block_on(registry::list(&boxes, &self.place()));
        listing.tools.into_iter().map(|tool| tool.name).collect()
    }
}

fn value(output: Output) -> Value {
    match output {
        Output::Json(value) => value,
        other => panic!("{other:?}"),
    }
}

fn developer() -> Desk {
    let desk = Desk::with(
        r#""builtinToolboxes":[{"tag":"DeveloperToolbox","contents":{"Name":"dev","Capabilities":["read-file-range","write-file-range","patch-file","list-directory"],
        "FileSandbox":{"fsbPredicate":{"tag":"DirectoryRecursive","contents":"./src"}}}}]"#,
    );
    desk.write("src/a.txt", "one\ntwo\nthree\n");
    desk.write("secret.txt", "no");
    desk
}

const DEV: &str = "developer_dev_developer_tools";

#[test]
fn lines_are_read_written_and_patched() {
    let desk = developer();
    assert_eq!(desk.names(), [DEV]);
    let read = value(desk.ask(DEV, &json!({"action":"read-file-range","path":"src/a.txt","from":2,"to":2})));
    assert_eq!((read["text"].as_str(), read["lines"].as_u64()), (Some("two\n"), Some(3)));
    desk.ask(DEV, &json!({"action":"write-file-range","path":"src/a.txt","from":2,"to":2,"text":"2a\n2b"}));
    assert_eq!(desk.read("src/a.txt"), "one\n2a\n2b\nthree\n");
    desk.ask(DEV, &json!({"action":"patch-file","path":"src/a.txt","old":"2a\n2b","new":"two"}));
    assert_eq!(desk.read("src/a.txt"), "one\ntwo\nthree\n");
    desk.ask(DEV, &json!({"action":"write-file-range","path":"src/new/b.txt","text":"x"}));
    assert_eq!(desk.read("src/new/b.txt"), "x");
}

#[test]
fn a_file_that_was_changed_since_it_was_read_is_left_alone() {
    let desk = developer();
    let read = value(desk.ask(DEV, &json!({"action":"read-file-range","path":"src/a.txt"})));
    desk.write("src/a.txt", "other\n");
    let said = fault(desk.ask(
        DEV,
        &json!({"action":"write-file-range","path":"src/a.txt","text":"mine","state":read["state"]}),
    ));
    assert_eq!(said, "`src/a.txt` was changed since it was read; read it anew");
    assert_eq!(desk.read("src/a.txt"), "other\n");
}

#[test]
fn nothing_outside_the_sandbox_is_read_or_written() {
    let desk = developer();
    std::os::unix::fs::symlink("../secret.txt", desk.path().join("src/link")).unwrap();
    std::os::unix::fs::symlink("/etc", desk.path().join("src/etc")).unwrap();
    for path in ["secret.txt", "src/link", "src/etc/passwd", "src/../secret.txt", "/etc/passwd"] {
        fault(desk.ask(DEV, &json!({"action":"read-file-range","path":path})));
        fault(desk.ask(DEV, &json!({"action":"write-file-range","path":path,"text":"bad"})));
    }
    assert_eq!(desk.read("secret.txt"), "no");
    let list = value(desk.ask(DEV, &json!({"action":"list-directory","path":"src"})));
    assert_eq!(list["entries"], json!([{"name":"a.txt","bytes":14}]));
}

#[test]
fn no_tool_reaches_the_store() {
    let desk = Desk::with(
        r#""builtinToolboxes":[{"tag":"DeveloperToolbox","contents":{"Name":"dev","Capabilities":["read-file-range"],
        "FileSandbox":{"fsbPredicate":{"tag":"DirectoryRecursive","contents":"."}}}}]"#,
    );
    desk.write(".flowright/flowright.db", "x");
    let said = fault(desk.ask(DEV, &json!({"action":"read-file-range","path":".flowright/flowright.db"})));
    assert!(said.contains("no tool reaches the sessions"), "{said}");
}

fn database(access: &str) -> Desk {
    let desk = Desk::with(&format!(
        r#""builtinToolboxes":[{{"tag":"SqliteToolbox","contents":{{"Name":"data","Path":"./data.db","Access":"{access}"}}}}]"#
    ));
    let connection = rusqlite::Connection::open(desk.path().join("data.db")).unwrap();
    connection.execute_batch("create table t(a, b); insert into t values (9007199254740993, 'x');").unwrap();
    desk
}

const QUERY: &str = "sqlite_data_query";

#[test]
fn a_database_is_only_read_unless_it_may_be_written() {
    let desk = database("read-only");
    let rows = value(desk.ask(QUERY, &json!({"query":"select * from t where b = ?","values":["x"]})));
    assert_eq!(rows.to_string(), r#"{"columns":["a","b"],"rows":[[9007199254740993,"x"]]}"#);
    for query in
        ["delete from t", "attach 'other.db' as o", "select 1; delete from t", "vacuum into 'copy.db'"]
    {
        fault(desk.ask(QUERY, &json!({"query":query})));
    }
    assert!(!desk.path().join("other.db").exists() && !desk.path().join("copy.db").exists());
    let rows = value(desk.ask(QUERY, &json!({"query":"select count(*) from t"})));
    assert_eq!(rows["rows"], json!([[1]]));
}

#[test]
fn a_writable_database_is_written() {
    let desk = database("read-write");
    let said = value(desk.ask(QUERY, &json!({"query":"update t set b = ?","values":["y"]})));
    assert_eq!(said, json!({"changed":1}));
    fault(desk.ask(QUERY, &json!({"query":"attach 'other.db' as o"})));
}

#[test]
fn a_system_toolbox_tells_what_it_may_and_nothing_else() {
    let desk = Desk::with(
        r#""builtinToolboxes":[{"tag":"SystemToolbox","contents":{"Name":"host","Capabilities":["operating-system","working-directory"]}}]"#,
    );
    let told = value(desk.ask("system_host_system_info", &json!({})));
    assert_eq!(told["working-directory"], desk.path().display().to_string());
    assert_eq!(told.as_object().unwrap().len(), 2);
    let said = fault(desk.ask("system_host_system_info", &json!({"what":["env-vars"]})));
    assert!(said.starts_with("`env-vars` is not told here"), "{said}");
}

#[test]
fn skills_are_read_when_they_are_needed() {
    let desk = Desk::with(r#""skillSources":[{"tag":"SkillDirectory","contents":"./skills"}]"#);
    desk.write("skills/review/SKILL.md", "---\nname: review\ndescription: How we review.\n---\nBe kind.\n");
    desk.write("skills/review/list.md", "1. Read.");
    desk.write("secret.txt", "no");
    assert_eq!(desk.names(), ["skill_review"]);
    let told = desk.ask("skill_review", &json!({}));
    assert_eq!(told, Output::Text("Be kind.\n\nFiles of this skill: list.md".to_owned()));
    let file = desk.ask("skill_review", &json!({"file":"list.md"}));
    assert_eq!(file, Output::Text("1. Read.".to_owned()));
    fault(desk.ask("skill_review", &json!({"file":"../../secret.txt"})));
}
