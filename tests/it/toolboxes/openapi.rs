//! Services that OpenAPI documents describe, against a stand-in server that notes what it is asked.

use super::{Desk, block_on, fault, text};
use flowright::host::model::keys::Keys;
use flowright::host::perform::{Output, ToolSpec};
use flowright::host::tool::registry::{self, Registry};
use flowright::host::tool::toolbox::{Kit, Listing};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What was asked: first line, headers in lower case, body.
#[derive(Clone, Debug, Default)]
struct Asked {
    line: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Asked {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A server that answers each request with what a function makes of it; an empty answer hangs up.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn new(answer: impl Fn(&Asked) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let notes = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let request = read(&stream);
                notes.lock().unwrap().push(request.clone());
                let _ = (&stream).write_all(answer(&request).as_bytes());
            }
        });
        Self { address, asked }
    }

    /// Answers everything with one JSON text.
    fn json(body: &'static str) -> Self {
        Self::new(move |_| ok(body))
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    fn last(&self) -> Asked {
        self.asked().pop().expect("nothing was asked")
    }
}

fn read(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut asked = Asked::default();
    let _ = reader.read_line(&mut asked.line);
    asked.line = asked.line.trim_end().to_owned();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap();
        asked.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    asked.body = String::from_utf8(body).unwrap();
    asked
}

fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

fn ok(body: &str) -> String {
    response("200 OK", "content-type: application/json\r\n", body)
}

const PETS: &str = r##"
openapi: 3.0.3
info: { title: Pets, version: "1" }
paths:
  /pets/{petId}:
    parameters:
      - $ref: "#/components/parameters/Id"
    get:
      operationId: showPet
      summary: Shows a pet.
      parameters:
        - { name: fields, in: query, schema: { type: array, items: { type: string } } }
        - { name: near, in: query, style: deepObject, schema: { type: object } }
        - { name: X-Trace, in: header, schema: { type: string } }
        - { name: Host, in: header, schema: { type: string } }
    put:
      operationId: change pet
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } }
    delete: {}
  /pets:
    head: { operationId: countPets }
    post:
      operationId: addPet
      requestBody:
        content: { application/x-www-form-urlencoded: { schema: { type: object } } }
  /upload:
    post:
      operationId: upload
      requestBody:
        required: true
        content: { application/octet-stream: {} }
components:
  parameters:
    Id: { name: petId, in: path, required: true, description: Which pet, schema: { type: string } }
  schemas:
    Pet:
      type: object
      required: [id, name]
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string, nullable: true, example: Rex }
        weight: { type: number, minimum: 0, exclusiveMinimum: true }
        friends: { type: array, items: { $ref: "#/components/schemas/Pet" } }
"##;

/// A package with a document and a toolbox of it.
fn desk(keys: &str) -> Desk {
    let desk = Desk::with(&format!(
        r#""openApiToolboxes":[{{"tag":"OpenAPIServer","contents":{{"SpecUrl":"./pets.yaml"{keys}}}}}]"#
    ));
    desk.write("pets.yaml", PETS);
    desk
}

fn at(server: &Server) -> Desk {
    desk(&format!(r#","BaseUrl":"http://{}/v1/""#, server.address))
}

impl Desk {
    fn kit(&self) -> Kit {
        let keys = Keys::read(&self.path().join("secret-keys")).unwrap();
        Kit { keys: Arc::new(keys), ..Kit::default() }
    }

    fn send(&self, name: &str, arguments: &Value) -> Output {
        let boxes = Registry::new(self.kit()).boxes(&self.agent, self.path());
        block_on(registry::call(&boxes, &self.place(), self.request(name, &arguments.to_string())))
    }

    fn offered(&self) -> Listing {
        let boxes = Registry::new(self.kit()).boxes(&self.agent, self.path());
        block_on(registry::list(&boxes, &self.place()))
    }

    fn spec(&self, name: &str) -> ToolSpec {
        let listing = self.offered();
        let found = listing.tools.iter().find(|tool| tool.name == name).cloned();
        found.unwrap_or_else(|| panic!("no {name} in {listing:?}"))
    }
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn each_operation_is_a_tool_and_only_reading_is_repeatable() {
    let listing = desk(r#","BaseUrl":"http://127.0.0.1:9""#).offered();
    let told: Vec<_> = listing.tools.iter().map(|tool| (tool.name.as_str(), tool.repeatable)).collect();
    assert_eq!(
        told,
        [
            ("openapi_showPet", true),
            ("openapi_change_pet", false),
            ("openapi_delete_pets_petId", false),
            ("openapi_addPet", false),
            ("openapi_countPets", true),
        ]
    );
    assert_eq!(
        listing.faults,
        [
            "the operation `upload` is left out: its body is of a kind that is not written: application/octet-stream"
        ]
    );
}

#[test]
fn schemas_stand_alone_and_circles_are_cut() {
    let desk = desk(r#","BaseUrl":"http://127.0.0.1:9""#);
    let shown = desk.spec("openapi_showPet");
    assert_eq!(shown.description, "Shows a pet.\n\nGET /pets/{petId}");
    assert_eq!(shown.parameters["required"], json!(["petId"]));
    let names: Vec<_> = shown.parameters["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["fields", "near", "X-Trace", "petId"], "`Host` is not the model's to set");
    assert_eq!(
        desk.spec("openapi_change_pet").parameters["properties"]["body"],
        json!({
            "type": "object", "required": ["name"],
            "properties": {
                "name": { "type": ["string", "null"] },
                "weight": { "type": "number", "exclusiveMinimum": 0 },
                "friends": { "type": "array", "items": { "description": "another `Pet`" } }
            },
            "description": "The body of the request"
        })
    );
}

#[test]
fn a_filter_leaves_operations_out() {
    for (filter, wanted) in [
        (r#"{"tag":"MethodEquals","contents":"GET"}"#, &["openapi_showPet"][..]),
        (r#"{"tag":"OperationIdEquals","contents":"addPet"}"#, &["openapi_addPet"]),
        (
            r#"{"tag":"And","contents":[{"tag":"PathEqual","contents":"/pets"},{"tag":"Not","contents":{"tag":"MethodEquals","contents":"HEAD"}}]}"#,
            &["openapi_addPet"],
        ),
    ] {
        let listing = desk(&format!(r#","BaseUrl":"http://127.0.0.1:9","Filter":{filter}"#)).offered();
        assert_eq!(names(&listing), wanted, "{filter}");
    }
}

#[test]
fn arguments_go_to_their_places() {
    let server = Server::json(r#"{"id":9007199254740993,"name":"Rex"}"#);
    let desk = at(&server);
    let given =
        json!({ "petId": "a/b ?#%2e", "fields": ["name", "a&b"], "near": {"lat": 1.50}, "X-Trace": "t" });
    let output = desk.send("openapi_showPet", &given);
    assert_eq!(
        output,
        Output::Json(serde_json::from_str(r#"{"id":9007199254740993,"name":"Rex"}"#).unwrap())
    );
    let asked = server.last();
    assert_eq!(
        asked.line,
        "GET /v1/pets/a%2Fb%20%3F%23%252e?fields=name&fields=a%26b&near%5Blat%5D=1.5 HTTP/1.1"
    );
    assert_eq!((asked.header("x-trace"), asked.header("idempotency-key")), (Some("t"), None));

    desk.send("openapi_change_pet", &json!({ "petId": 7, "body": {"name": "Rex"} }));
    let asked = server.last();
    assert_eq!((asked.line.as_str(), asked.body.as_str()), ("PUT /v1/pets/7 HTTP/1.1", r#"{"name":"Rex"}"#));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(asked.header("idempotency-key"), Some("call-1"));

    desk.send("openapi_addPet", &json!({ "body": {"name": "Rex & Co", "tags": ["a", "b"]} }));
    assert_eq!(server.last().body, "name=Rex%20%26%20Co&tags=a&tags=b");
}

#[test]
fn no_argument_leads_elsewhere() {
    let server = Server::json("{}");
    let desk = at(&server);
    for id in ["..", ".", "../../admin", "a/../../b", "..\\x", ""] {
        fault(desk.send("openapi_showPet", &json!({ "petId": id })));
    }
    for given in [
        json!({}),
        json!({"petId": null}),
        json!({"petId": "1", "Host": "evil"}),
        json!({"petId":"1","X-Trace":"a\r\nb: c"}),
    ] {
        fault(desk.send("openapi_showPet", &given));
    }
    assert!(server.asked().is_empty(), "{:?}", server.asked());
    desk.send("openapi_showPet", &json!({ "petId": "%2e%2e" }));
    assert_eq!(server.last().line, "GET /v1/pets/%252e%252e HTTP/1.1");
}

#[test]
fn a_refusal_is_a_failure_with_its_status_and_a_piece_of_its_body() {
    let server = Server::new(|_| response("422 Unprocessable Content", "", "the \u{1b}name\n is taken"));
    let said = fault(at(&server).send("openapi_addPet", &json!({})));
    let wanted =
        format!("the service at {} answered with status 422: the \\u{{1b}}name is taken", server.address);
    assert_eq!(said, wanted);
}

#[test]
fn a_line_that_dies_leaves_a_change_unknown_and_a_read_failed() {
    let server = Server::new(|asked| match asked.line.contains("/pets/half") {
        true => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_owned(),
        false => String::new(),
    });
    let desk = at(&server);
    let said = fault(desk.send("openapi_showPet", &json!({ "petId": "1" })));
    assert_eq!(said, format!("the service at {} broke the connection", server.address));
    let body = json!({ "petId": "1", "body": {} });
    match desk.send("openapi_change_pet", &body) {
        Output::Unknown(said) => {
            let wanted = format!(
                "the service at {} broke the connection; the request may have had its effect",
                server.address
            );
            assert_eq!(said, wanted);
        }
        other => panic!("{other:?}"),
    }
    let half = desk.send("openapi_change_pet", &json!({ "petId": "half", "body": {} }));
    assert!(matches!(half, Output::Unknown(_)), "{half:?}");
    // One request a call: nothing is repeated.
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_service_that_is_not_there_has_done_nothing() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let desk = desk(&format!(r#","BaseUrl":"http://{free}""#));
    let said = fault(desk.send("openapi_addPet", &json!({})));
    assert_eq!(said, format!("the service at {free} cannot be reached"));
}

#[test]
fn redirects_stay_on_the_host_and_keep_the_method() {
    let other = Server::json(r#"{"stolen":true}"#);
    let away = format!("location: http://{}/pets\r\n", other.address);
    let server = Server::new(move |asked| {
        let (method, rest) = asked.line.split_once(' ').unwrap();
        match rest.split_once(' ').unwrap().0 {
            "/v1/pets/near" => response("302 Found", "location: /v1/pets/there\r\n", ""),
            "/v1/pets/away" => response("307 Temporary Redirect", &away, ""),
            "/v1/pets" => response("303 See Other", "location: /v1/pets/there\r\n", ""),
            "/v1/pets/there" => ok(&format!(r#""{method}""#)),
            other => panic!("{other}"),
        }
    });
    let desk = at(&server);
    assert_eq!(desk.send("openapi_showPet", &json!({"petId":"near"})), Output::Json("GET".into()));
    assert_eq!(desk.send("openapi_addPet", &json!({"body":{"a":1}})), Output::Json("GET".into()));
    let said = fault(desk.send("openapi_showPet", &json!({"petId":"away"})));
    assert!(
        said.ends_with(&format!("redirects to another host, `{}`, which is refused", other.address)),
        "{said}"
    );
    let said = fault(desk.send("openapi_change_pet", &json!({"petId":"near","body":{}})));
    assert!(said.contains("status 302"), "{said}");
    assert!(other.asked().is_empty());
}

#[test]
fn the_key_of_the_operator_is_sent_and_never_shown() {
    let server = Server::new(|asked| {
        let key = asked.header("authorization").unwrap_or("none");
        if asked.line.starts_with("GET") {
            ok(&json!({ "sent": key }).to_string())
        } else {
            response("403 Forbidden", "", key)
        }
    });
    let keys = r#","ApiKeyId":"pets","Headers":{"X-Team":"blue"}"#;
    let desk = desk(&format!(r#","BaseUrl":"http://{}"{keys}"#, server.address));
    let said = fault(desk.send("openapi_showPet", &json!({"petId":"1"})));
    assert!(said.starts_with("there is no key `pets`"), "{said}");
    assert!(server.asked().is_empty());

    desk.write("secret-keys", r#"{"keys":[{"id":"pets","value":"a-long-secret-0123456789"}]}"#);
    let output = desk.send("openapi_showPet", &json!({"petId":"1"}));
    assert_eq!(output, Output::Json(json!({ "sent": "Bearer •••" })));
    let asked = server.last();
    assert_eq!(asked.header("authorization"), Some("Bearer a-long-secret-0123456789"));
    assert_eq!(asked.header("x-team"), Some("blue"));
    let said = fault(desk.send("openapi_addPet", &json!({})));
    assert!(said.contains("403") && !said.contains("0123456789"), "{said}");
}

#[test]
fn answers_come_as_what_they_are() {
    let server = Server::new(|asked| match asked.line.split(' ').nth(1).unwrap() {
        "/v1/pets/text" => response("200 OK", "content-type: text/plain\r\n", "12.0"),
        "/v1/pets/none" => response("204 No Content", "", ""),
        "/v1/pets/picture" => response("200 OK", "content-type: image/png\r\n", "PNG"),
        "/v1/pets/long" => ok(&format!("\"{}\"", "x".repeat(4 * 1024 * 1024))),
        "/v1/pets" => {
            "HTTP/1.1 200 OK\r\nconnection: close\r\nx-total-count: 3\r\nset-cookie: s=1\r\n\r\n".to_owned()
        }
        other => panic!("{other}"),
    });
    let desk = at(&server);
    let show = |id: &str| desk.send("openapi_showPet", &json!({ "petId": id }));
    assert_eq!(show("text"), text("12.0"));
    assert_eq!(show("none"), text("status 204 No Content, no content"));
    assert_eq!(show("picture"), Output::Media { mime: "image/png".into(), bytes: b"PNG".into(), name: None });
    assert_eq!(fault(show("long")), "the answer is longer than 4194304 bytes and is left out; ask for less");
    let head = json!({ "status": 200, "headers": { "connection": "close", "x-total-count": "3" } });
    assert_eq!(desk.send("openapi_countPets", &json!({})), Output::Json(head));
}

#[test]
fn a_document_is_read_anew_once_it_has_changed() {
    let desk = desk("");
    desk.write("pets.yaml", "openapi: 3.1.0\nservers: [{ url: 'http://127.0.0.1:{port}', variables: { port: { default: '9' } } }]\npaths: { /a: { get: {} } }\n");
    let boxes = Registry::new(Kit::default()).boxes(&desk.agent, desk.path());
    let look = || block_on(registry::list(&boxes, &desk.place()));
    assert_eq!((names(&look()), look().faults), (vec!["openapi_get_a"], vec![]));
    desk.write("pets.yaml", r#"{"openapi":"3.1.0","paths":{"/b/c":{"post":{}}}}"#);
    assert_eq!(names(&look()), ["openapi_post_b_c"]);
    assert_eq!(
        look().faults,
        ["the OpenAPI document `pets.yaml` names no server that can be reached; write a `BaseUrl`"]
    );
    std::fs::remove_file(desk.path().join("pets.yaml")).unwrap();
    assert_eq!(
        look().faults,
        ["the OpenAPI document `pets.yaml` cannot be read: `pets.yaml` is not in the package"]
    );
}

#[test]
fn a_document_that_cannot_be_understood_is_a_fault_and_no_panic() {
    for (document, wanted) in [
        ("swagger: '2.0'", "is of Swagger 2; convert it to OpenAPI 3"),
        ("openapi: 2.5", "is no OpenAPI 3 document: it has no text `openapi`"),
        ("{\"openapi\":", "is no JSON: line 1, column 11"),
        ("[", "cannot be read: line 1, column 1"),
    ] {
        let desk = desk(r#","BaseUrl":"http://127.0.0.1:9""#);
        desk.write("pets.yaml", document);
        let faults = desk.offered().faults;
        let wanted = format!("the OpenAPI document `pets.yaml` {wanted}");
        assert!(faults.len() == 1 && faults[0].starts_with(&wanted), "{faults:?}");
    }
    let round = r##"{"openapi":"3.1.0","components":{"schemas":{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/A"}},
        "parameters":{"P":{"$ref":"#/components/parameters/P"}}},
        "paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}},
        "/p":{"get":{"parameters":[{"$ref":"#/components/parameters/P"}]}},
        "/f":{"get":{"parameters":[{"$ref":"other.yaml#/x"}]}},"/q/{id}":{"get":{}}}}"##;
    let desk = desk(r#","BaseUrl":"http://127.0.0.1:9""#);
    desk.write("pets.yaml", round);
    let listing = desk.offered();
    assert_eq!(names(&listing), ["openapi_post_a"]);
    assert_eq!(
        listing.faults,
        [
            "the operation `get_p` is left out: a reference leads round in a circle",
            "the operation `get_f` is left out: `other.yaml#/x` lies in another file, which is not read",
            "the operation `get_q_id` is left out: it does not describe the parameter `id` of its path",
        ]
    );
}

#[test]
fn a_document_from_elsewhere_names_no_host_but_its_own() {
    let server = Server::new(|asked| match asked.line.split(' ').nth(1).unwrap() {
        "/own.json" => ok(r#"{"openapi":"3.0.0","servers":[{"url":"/v2"}],"paths":{"/a":{"get":{}}}}"#),
        "/other.json" => ok(
            r#"{"openapi":"3.0.0","servers":[{"url":"http://example.invalid"}],"paths":{"/a":{"get":{}}}}"#,
        ),
        "/v2/a" => ok("1"),
        other => panic!("{other}"),
    });
    let of = |name: &str| {
        Desk::with(&format!(
            r#""openApiToolboxes":[{{"tag":"OpenAPIServer","contents":{{"SpecUrl":"http://{}/{name}"}}}}]"#,
            server.address
        ))
    };
    assert_eq!(of("own.json").send("openapi_get_a", &json!({})), Output::Json(1.into()));
    let said = fault(of("other.json").send("openapi_get_a", &json!({})));
    assert!(said.ends_with("names a server on another host than its own; write a `BaseUrl`"), "{said}");
}

/// Cut short, or with one line left out or doubled, a document is read or refused; its operations keep their form.
#[test]
fn damaged_documents_never_panic() {
    use flowright::host::tool::openapi::{document::Document, operation};
    let lines: Vec<&str> = PETS.lines().collect();
    let mut texts: Vec<String> = (0..PETS.len()).step_by(7).map(|at| PETS[..at].to_owned()).collect();
    for at in 0..lines.len() {
        let (before, after) = lines.split_at(at);
        texts.push([before, &after[1..]].concat().join("\n"));
        texts.push([before, &after[..1], after].concat().join("\n"));
    }
    let (mut read, mut refused) = (0, 0);
    for text in texts {
        let Ok(document) = Document::read("pets.yaml", &text) else {
            refused += 1;
            continue;
        };
        read += 1;
        let (operations, faults) = operation::all(&document, None);
        for operation in &operations {
            assert!(operation.spec.name.starts_with("openapi_"), "{operation:?}");
            assert_eq!(operation.spec.parameters["type"], "object");
        }
        assert!(operations.len() + faults.len() <= 2 * lines.len());
    }
    assert!(read > 20 && refused > 20, "{read} read, {refused} refused");
}
