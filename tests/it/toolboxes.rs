//! Tools as they are run: command-line tools and what is built in. Every test has a package folder of its own.

mod bash;
mod builtin;
mod isolation;
mod openapi;

use flowright::engine::SessionId;
use flowright::engine::agent::event::{CallMade, Spec};
use flowright::host::perform::{Output, ToolRequest};
use flowright::host::tool::bash::{Shelf, call};
use flowright::ir;
use indexmap::IndexMap;
use std::future::Future;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

/// A package folder with tools.
struct Desk {
    folder: tempfile::TempDir,
    shelf: Shelf,
    agent: Arc<ir::Agent>,
}

impl Desk {
    /// With an agent whose JSON has these keys more.
    fn with(keys: &str) -> Self {
        let text = format!(
            r#"{{"slug":"a","modelUrl":"http://127.0.0.1:9","modelName":"x","apiKeyId":"k","systemPrompt":["x"],{keys}}}"#
        );
        let main = flowright::compile::MainDocument {
            name: "a.json".to_owned(),
            package_path: "a.json".to_owned(),
            bytes: text.into(),
        };
        let compiled = flowright::compile::compile_agent(main);
        assert_eq!(compiled.diagnostics, []);
        let agent = Arc::new(compiled.agent.unwrap());
        Self { folder: tempfile::tempdir().unwrap(), shelf: Shelf::default(), agent }
    }

    /// With a folder `tools`.
    fn new() -> Self {
        Self::with(r#""bashToolboxes":[{"tag":"FileSystemDirectory","contents":{"Path":"./tools"}}]"#)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    fn script(&self, path: &str, text: &str) {
        self.write(path, text);
        std::fs::set_permissions(self.path().join(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A tool of the folder `tools`: what it says of itself, and the shell lines of `run`.
    fn tool(&self, slug: &str, more: &str, run: &str) {
        let text = format!(
            "#!/bin/bash\ncase \"$1\" in\ndescribe) cat <<'JSON'\n{{\"slug\":\"{slug}\"{more}}}\nJSON\n;;\nrun) shift\n{run}\n;;\nesac\n"
        );
        self.script(&format!("tools/{slug}"), &text);
    }

    fn request(&self, name: &str, arguments: &str) -> ToolRequest {
        ToolRequest {
            agent: Arc::clone(&self.agent),
            spec: Arc::new(Spec {
                session: SessionId("s-1".to_owned()),
                slug: "a".to_owned(),
                agent: self.agent.digest(),
                root: self.path().display().to_string(),
                owner: "ada".to_owned(),
                prompt: String::new(),
                with: IndexMap::new(),
                contract: None,
                media: Vec::new(),
                caller: None,
                forked_from: None,
            }),
            call: CallMade {
                id: "call-1".to_owned(),
                provider_id: String::new(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
            },
            reply: 3,
            decorators: Vec::new(),
            isolation: None,
            admission: 1,
            token: None,
        }
    }

    fn faults(&self) -> Vec<String> {
        block_on(self.shelf.find(&self.agent, self.path())).1
    }

    fn call(&self, name: &str, arguments: &str) -> Output {
        self.run(self.request(name, arguments))
    }

    fn run(&self, request: ToolRequest) -> Output {
        block_on(async {
            let (tools, faults) = self.shelf.find(&self.agent, self.path()).await;
            let tool = tools.iter().find(|tool| tool.name() == request.call.name);
            let tool = tool.unwrap_or_else(|| panic!("no {} but {faults:?}", request.call.name));
            call(tool, &request).await
        })
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn text(text: &str) -> Output {
    Output::Text(text.to_owned())
}

/// What a failed call says.
fn fault(output: Output) -> String {
    match output {
        Output::Failed(said) => said,
        other => panic!("{other:?}"),
    }
}
