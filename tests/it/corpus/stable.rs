//! What a definition means does not depend on how it is written: the digest of every case of `corpus/ok` stays when
//! keys change their order, comments come in, quotes and styles change, and YAML becomes JSON.

use super::{cases, listing, print};
use flowright::compile::{Folder, MainDocument};
use flowright::parse;
use flowright::source::{FileId, Source};

#[test]
fn the_digest_of_every_ok_case_outlives_another_spelling() {
    let mut compared = 0;
    for case in cases::of("ok").iter().filter(|case| !case.is_agent()) {
        let text = String::from_utf8(case.bytes()).unwrap();
        let digest = case.compile().workflow.unwrap().digest().clone();
        let tree =
            parse::read(&Source::new(FileId::MAIN, case.file.as_str(), text.as_str()), &mut Vec::new());
        for (name, again) in [("again.json", print::json(&tree)), ("again.yaml", print::yaml(&tree))] {
            if again.len() > parse::MAX_DOCUMENT_BYTES {
                continue;
            }
            let main = MainDocument {
                name: name.to_owned(),
                package_path: name.to_owned(),
                bytes: again.clone().into_bytes(),
            };
            let found = case.compile_document(main, &Folder::new(&case.root));
            let workflow = found.workflow.as_ref().unwrap_or_else(|| {
                panic!("{} as {name} does not compile:\n{}\n{again}", case.name, listing::print(&found))
            });
            assert_eq!(workflow.digest(), &digest, "{} as {name}:\n{again}", case.name);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} spellings were compared");
}
