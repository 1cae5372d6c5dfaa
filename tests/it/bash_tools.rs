//! Bash tools: described once for each state of their file, edits picked up.

use flowright::host::tool::bash::Shelf;
use flowright::ir;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn write_tool(folder: &Path, description: &str) {
    let path = folder.join("tools/note");
    let script = format!(
        "#!/bin/sh\necho asked >> \"$(dirname \"$0\")/../asked\"\necho '{{\"slug\":\"note\",\"description\":\"{description}\"}}'\n"
    );
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn agent() -> ir::Agent {
    let text = r#"{"slug":"a","base":"workflow-agent@1","modelUrl":"http://127.0.0.1:9","modelName":"x","systemPrompt":["x"],
        "bashToolboxes":[{"tag":"FileSystemDirectory","contents":{"Path":"./tools"}}]}"#;
    let main = flowright::compile::MainDocument {
        name: "a.json".to_owned(),
        package_path: "a.json".to_owned(),
        bytes: text.into(),
    };
    flowright::compile::compile_agent(main).agent.unwrap()
}

#[test]
fn a_tool_is_asked_once_for_each_state_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, agent) = (Shelf::default(), agent());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let find = || {
        let (tools, faults) = runtime.block_on(shelf.find(&agent, folder.path()));
        assert_eq!(faults, Vec::<String>::new());
        tools[0].spec().description
    };
    let asked = || std::fs::read_to_string(folder.path().join("asked")).unwrap().lines().count();
    write_tool(folder.path(), "one");
    assert_eq!((find(), find(), find()), ("one".to_owned(), "one".to_owned(), "one".to_owned()));
    assert_eq!(asked(), 1);
    write_tool(folder.path(), "another");
    assert_eq!((find(), asked()), ("another".to_owned(), 2));
}
