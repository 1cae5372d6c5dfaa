-- A database of the first shape, as its writer left it: an agent session with two deferred calls, a workflow that asks.
PRAGMA application_id = 1181513586;
PRAGMA user_version = 1;
CREATE TABLE sessions (
    session_id     TEXT PRIMARY KEY NOT NULL,
    kind           TEXT NOT NULL,
    version        INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    first_digest   TEXT NOT NULL,
    last_append_id TEXT NOT NULL,
    title          TEXT NOT NULL,
    status         TEXT NOT NULL,
    detail         TEXT NOT NULL,
    wake_at        INTEGER,
    parent         TEXT,
    owner          TEXT NOT NULL,
    owes_work      INTEGER NOT NULL,
    ended          INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_wake ON sessions (wake_at, session_id) WHERE wake_at IS NOT NULL;
CREATE INDEX sessions_owing ON sessions (owes_work, updated_at, session_id) WHERE owes_work = 1;
CREATE INDEX sessions_parent ON sessions (parent, created_at) WHERE parent IS NOT NULL;
CREATE INDEX sessions_list ON sessions (created_at DESC, session_id DESC);
CREATE INDEX sessions_roots ON sessions (created_at DESC, session_id DESC) WHERE parent IS NULL;
CREATE INDEX sessions_open ON sessions (created_at DESC, session_id DESC) WHERE ended = 0;
CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    sequence   INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (session_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (
    token      TEXT PRIMARY KEY NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_session ON tokens (session_id);
CREATE TABLE leases (
    session_id TEXT PRIMARY KEY NOT NULL,
    holder     TEXT NOT NULL,
    until      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (
    digest TEXT PRIMARY KEY NOT NULL,
    bytes  BLOB NOT NULL
) STRICT;
CREATE TABLE blob_refs (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    digest     TEXT NOT NULL REFERENCES blobs,
    PRIMARY KEY (session_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_refs_digest ON blob_refs (digest);
INSERT INTO sessions (session_id, kind, version, created_at, updated_at, first_digest, last_append_id, title, status, detail, wake_at, parent, owner, owes_work, ended) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 'agent', 9, 1796644965197, 1796644965211, 'sha256:617708f93c10272b3993900f2c56ad6e087cafbf419ad354e3ea46d2a00d57fa', '7570/2370300/7e65f547180a40638aec70cd55972457#7', 'lookup', 'waiting_external', 'bash_fetch_remote_a: the archive answers by mail; bash_fetch_remote_b: the archive answers by mail', NULL, NULL, 'ada', 0, 0);
INSERT INTO sessions (session_id, kind, version, created_at, updated_at, first_digest, last_append_id, title, status, detail, wake_at, parent, owner, owes_work, ended) VALUES ('01a25062-8b6a-71dd-978f-f5a7c34be37c', 'workflow', 3, 1796644965226, 1796644965226, 'sha256:6412a4741cbed21fcb109b6e0e9232d12fa2d24c2a42c9a2f165d7dde65bb953', '7583/2370303/aab52e99d03e40a399bf68d2ff2cf1d4#1', 'ask', 'awaiting_answer', '`ask` asks owner: Go on?', NULL, NULL, 'ada', 0, 0);
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 1, 1796644965197, '{"started":{"session":"01a25062-8b4b-76ad-9443-984748211129","slug":"lookup","agent":"sha256:065f36da6e0eb079569cc2aa53541f16824f0aab36eadd8fbe87bd53de3f2caa","root":"/srv/package","owner":"ada","prompt":"Look up a, b and c.","with":{},"contract":null}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 2, 1796644965199, '{"model_call_admitted":{"reply":1,"admission":1,"holder":"7570/2370300/7e65f547180a40638aec70cd55972457"}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 3, 1796644965201, '{"model_replied":{"reply":1,"text":"I look up all three.","thinking":"","calls":[{"id":"413b2c34-35b9-8e8a-acd5-95ee2cf1a520","provider_id":"","name":"bash_fetch_local","arguments":"{\"key\":\"c\"}"},{"id":"2cbc940f-49ab-8751-a3e0-2fb53abc00ae","provider_id":"","name":"bash_fetch_remote_a","arguments":"{\"key\":\"a\"}"},{"id":"abae7512-6605-8bf1-ac75-e139f9f16c66","provider_id":"","name":"bash_fetch_remote_b","arguments":"{\"key\":\"b\"}"}],"usage":null}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 4, 1796644965201, '{"call_deferred":{"call":"2cbc940f-49ab-8751-a3e0-2fb53abc00ae","token":"fe00e85c-df39-8858-a238-bc3feacb4b29","reason":"the archive answers by mail","digest":"sha256:5162e9b8c3e8f4114081ab69bcdb8079937b5700db162db791653890f9c2dabb"}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 5, 1796644965201, '{"call_deferred":{"call":"abae7512-6605-8bf1-ac75-e139f9f16c66","token":"14b831cc-68e9-8f23-a0c9-5be77048a78e","reason":"the archive answers by mail","digest":"sha256:64a10435221a22fc5b0bfa7e17c6bae9ac18ea739abf3b4b01a04d9baeaffbe1"}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 6, 1796644965207, '{"call_defined":{"call":"2cbc940f-49ab-8751-a3e0-2fb53abc00ae","definition":"sha256:636fd464fc50754020ee2f5ad36e79ce1d901dfd3119dd276cac78ce9b9a0b8b"}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 7, 1796644965208, '{"call_defined":{"call":"abae7512-6605-8bf1-ac75-e139f9f16c66","definition":"sha256:333c683f3f1bbe0a41810128d886baae9fd3473005de3143f1432a3fe2a3088b"}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 8, 1796644965209, '{"call_admitted":{"call":"413b2c34-35b9-8e8a-acd5-95ee2cf1a520","admission":1,"holder":"7570/2370300/7e65f547180a40638aec70cd55972457","repeatable":true,"digest":"sha256:0bec15582ab90ff14f6af4309694945721dc9d3706cb8b811b842cd7c6fedae9"}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 9, 1796644965211, '{"call_reported":{"call":"413b2c34-35b9-8e8a-acd5-95ee2cf1a520","admission":1,"result":{"text":"c is 3\n"},"by":null}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b6a-71dd-978f-f5a7c34be37c', 1, 1796644965226, '{"started":{"session":"01a25062-8b6a-71dd-978f-f5a7c34be37c","workflow":"ask","definition":"sha256:c3db9ddcb20c895501c40443b578a5c18c580f9f1bd2cbecdf25b19c20a50405","root":"/srv/package","source":"/srv/package/ask.yaml","inputs":{},"owner":"ada"}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b6a-71dd-978f-f5a7c34be37c', 2, 1796644965226, '{"step_entered":{"node":"ask","visit":1,"frames":[]}}');
INSERT INTO events (session_id, sequence, at, body) VALUES ('01a25062-8b6a-71dd-978f-f5a7c34be37c', 3, 1796644965226, '{"question_asked":{"occurrence":1,"text":"Go on?","choices":[["yes","Yes"],["no","No"]],"respondents":["owner"],"deadline_at":null}}');
INSERT INTO tokens (token, session_id) VALUES ('14b831cc-68e9-8f23-a0c9-5be77048a78e', '01a25062-8b4b-76ad-9443-984748211129');
INSERT INTO tokens (token, session_id) VALUES ('fe00e85c-df39-8858-a238-bc3feacb4b29', '01a25062-8b4b-76ad-9443-984748211129');
INSERT INTO blobs (digest, bytes) VALUES ('sha256:065f36da6e0eb079569cc2aa53541f16824f0aab36eadd8fbe87bd53de3f2caa', x'7b22616e6e6f756e6365223a224c6f6f6b73207570207468726565207265636f7264733a206f6e6520686572652c2074776f207468617420736f6d65626f647920656c73652068617320746f2066657463682e222c226170695f6b65795f6964223a6e756c6c2c226173796e6368726f6e6f7573223a747275652c2262617365223a6e756c6c2c22626173685f746f6f6c626f786573223a5b7b22626173656e616d655f66696c746572223a6e756c6c2c2270617468223a22746f6f6c73227d5d2c2263616c6c5f74696d656f75745f7365636f6e6473223a3330302c2266696c65223a226167656e74732f6c6f6f6b75702e6a736f6e222c22666c61766f72223a6e756c6c2c22696e70757473223a6e756c6c2c226c61746572223a7b7d2c226d61785f636f6e63757272656e6379223a342c226d61785f746f6b656e73223a6e756c6c2c226d61785f746f6f6c5f63616c6c73223a6e756c6c2c226d6f64656c5f6e616d65223a227363726970746564222c226d6f64656c5f75726c223a227363726970743a2e2f7265706c6965732e79616d6c222c22706f6c696379223a7b2264656661756c74223a2272756e53796e63222c2272756c6573223a5b7b22646973706f736974696f6e223a7b226465666572223a7b22726561736f6e223a22746865206172636869766520616e7377657273206279206d61696c227d7d2c22746f6f6c223a22626173685f66657463685f72656d6f74655f61227d2c7b22646973706f736974696f6e223a7b226465666572223a7b22726561736f6e223a22746865206172636869766520616e7377657273206279206d61696c227d7d2c22746f6f6c223a22626173685f66657463685f72656d6f74655f62227d5d7d2c2272657065617461626c655f746f6f6c73223a5b5d2c22736c7567223a226c6f6f6b7570222c2273797374656d5f70726f6d7074223a5b22596f75206c6f6f6b207570207265636f72647320616e642074656c6c20776861742074686579207361792e225d2c2274656d7065726174757265223a6e756c6c2c22746f6f6c5f63686f696365223a6e756c6c7d');
INSERT INTO blobs (digest, bytes) VALUES ('sha256:c3db9ddcb20c895501c40443b578a5c18c580f9f1bd2cbecdf25b19c20a50405', x'7b22646967657374223a227368613235363a39336232353535646466316636633732623036313235396637663231333336343961373432346331316362346631353765316131313932656263386365323738222c22666c6f777269676874223a312c22776f726b666c6f77223a7b226167656e745f72756e735f6265747765656e5f7761697473223a302c226167656e7473223a7b7d2c22646561646c696e655f6d73223a6e756c6c2c226465736372697074696f6e223a6e756c6c2c226772617068223a7b226564676573223a5b7b2266726f6d223a2261736b222c226b696e64223a7b2263686f696365223a22796573227d2c22746f223a22656e64222c227475726e223a22666f7277617264227d2c7b2266726f6d223a2261736b222c226b696e64223a7b2263686f696365223a226e6f227d2c22746f223a22656e64222c227475726e223a22666f7277617264227d5d2c226e6f646573223a5b7b226465736372697074696f6e223a6e756c6c2c226b696e64223a7b227175657374696f6e223a7b2263686f69636573223a5b7b22666565646261636b223a226e6f6e65222c226c6162656c223a5b7b2274657874223a22596573227d5d2c2276616c7565223a22796573227d2c7b22666565646261636b223a226e6f6e65222c226c6162656c223a5b7b2274657874223a224e6f227d5d2c2276616c7565223a226e6f227d5d2c2263686f6f73655f6f6e5f646561646c696e65223a6e756c6c2c22646561646c696e655f6d73223a6e756c6c2c22726573706f6e64656e7473223a5b5b7b2274657874223a226f776e6572227d5d5d2c2274657874223a5b7b2274657874223a22476f206f6e3f227d5d7d7d2c226e616d65223a2261736b222c2273636f7065223a5b5d2c227469746c65223a6e756c6c7d2c7b226465736372697074696f6e223a6e756c6c2c226b696e64223a22656e64222c226e616d65223a22656e64222c2273636f7065223a5b5d2c227469746c65223a6e756c6c7d5d7d2c22696e70757473223a7b7d2c226e616d65223a2261736b222c226f757470757473223a7b7d2c22726574656e74696f6e5f6d73223a373737363030303030302c227469746c65223a6e756c6c7d7d0a');
INSERT INTO blob_refs (session_id, digest) VALUES ('01a25062-8b4b-76ad-9443-984748211129', 'sha256:065f36da6e0eb079569cc2aa53541f16824f0aab36eadd8fbe87bd53de3f2caa');
INSERT INTO blob_refs (session_id, digest) VALUES ('01a25062-8b6a-71dd-978f-f5a7c34be37c', 'sha256:c3db9ddcb20c895501c40443b578a5c18c580f9f1bd2cbecdf25b19c20a50405');
