-- Lorepack pack, format 1.
--
-- A pack is one SQLite file, `<name>-<version>.lorepack`, that never changes after it is sealed.
-- Readers open it with `file:…?mode=ro&immutable=1`. Stock SQLite reads all of it: no extension,
-- no custom tokenizer. Ids are dense and start at 1, in the order of paths, so that two builds of
-- the same input are the same bytes. Text is NFC, dates are ISO 8601, lists are JSON arrays.

PRAGMA application_id = 0x4C4F5245; -- 'LORE'
PRAGMA user_version = 1;            -- the format; readers refuse a newer one

-- Facts about the whole pack. Keys: name, version, title, languages, builder, embedder (JSON: id,
-- dims, prefixes, pooling, sha256 of the weights, or null), segmenter, counts (JSON), built (only
-- with SOURCE_DATE_EPOCH), day (the pack's own, from which weeks and staleness count, or ''),
-- previous_version, changes (JSON: numbers by kind and how), previous_digest, content_digest, index_digest.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- One vault, folder, repo, archive, export or wiki. Its name is the first part of its pages' paths.
CREATE TABLE sources (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE,
    kind     TEXT NOT NULL,
    origin   TEXT NOT NULL,            -- as the recipe gives it; never with credentials
    web      TEXT NOT NULL DEFAULT '', -- where its repository is browsed: https://host/owner/name
    revision TEXT NOT NULL DEFAULT '', -- the commit, where there is one
    subdir   TEXT NOT NULL DEFAULT '',
    licence  TEXT NOT NULL DEFAULT ''
);

-- What a project depends on, as its recipe says: package → repository → the source that covers it.
CREATE TABLE dependencies (
    ecosystem TEXT NOT NULL,             -- pypi, npm, maven, …
    name      TEXT NOT NULL,
    version   TEXT NOT NULL DEFAULT '',  -- as written
    repo      TEXT NOT NULL DEFAULT '',  -- owner/name
    source_id INTEGER REFERENCES sources (id),
    PRIMARY KEY (ecosystem, name)
) WITHOUT ROWID;

-- One document. `path` is its identity (`handbook/install.md`); `url` is derived from it.
CREATE TABLE pages (
    id          INTEGER PRIMARY KEY,
    source_id   INTEGER NOT NULL REFERENCES sources (id),
    path        TEXT NOT NULL UNIQUE,
    title       TEXT NOT NULL,
    lang        TEXT NOT NULL,            -- BCP 47 primary tag
    category    TEXT NOT NULL DEFAULT '', -- the first folder below the source
    tags        TEXT NOT NULL DEFAULT '[]',
    aliases     TEXT NOT NULL DEFAULT '[]',
    summary     TEXT NOT NULL DEFAULT '', -- at most 200 characters
    lifecycle   TEXT NOT NULL DEFAULT '', -- draft, verified, archived, disputed, or not said
    tool        TEXT NOT NULL DEFAULT '', -- the AI tool that wrote it, if it says so
    created     TEXT NOT NULL DEFAULT '',
    updated     TEXT NOT NULL DEFAULT '',
    url         TEXT NOT NULL UNIQUE,     -- below the site's root, with a slash at its end, not encoded
    body_line   INTEGER NOT NULL,         -- the file's line on which `markdown` starts, from 1
    hash        TEXT NOT NULL,            -- SHA-256 of the file
    frontmatter TEXT NOT NULL DEFAULT '{}',
    markdown    TEXT NOT NULL             -- without frontmatter and comments; code in a fence
);

-- What a page is called: its title and aliases, folded as words are (`tokenize.py`).
CREATE TABLE names (
    name    TEXT NOT NULL,
    page_id INTEGER NOT NULL REFERENCES pages (id),
    PRIMARY KEY (name, page_id)
) WITHOUT ROWID;

-- Every heading of a page. A heading too small for a chunk of its own names the chunk that holds it.
CREATE TABLE headings (
    page_id  INTEGER NOT NULL REFERENCES pages (id),
    ordinal  INTEGER NOT NULL,
    level    INTEGER NOT NULL,
    text     TEXT NOT NULL,
    anchor   TEXT NOT NULL,
    line     INTEGER NOT NULL,
    chunk_id INTEGER REFERENCES chunks (id),
    PRIMARY KEY (page_id, ordinal)
) WITHOUT ROWID;

-- One heading section, or a part of one. `key` is stable while path, anchor and text are.
CREATE TABLE chunks (
    id         INTEGER PRIMARY KEY,
    page_id    INTEGER NOT NULL REFERENCES pages (id),
    ordinal    INTEGER NOT NULL,
    key        TEXT NOT NULL UNIQUE,
    anchor     TEXT NOT NULL,    -- id in the rendered page; '' is the page's top
    headings   TEXT NOT NULL,    -- JSON array, outermost first
    text       TEXT NOT NULL,
    first_line INTEGER NOT NULL, -- of the source file, from 1
    last_line  INTEGER NOT NULL,
    tokens     INTEGER NOT NULL, -- by the embedder's tokenizer
    hash       TEXT NOT NULL,    -- SHA-256 of what is embedded
    UNIQUE (page_id, ordinal)
);

-- Words, for phrases and identifiers. rowid = chunks.id. Columns hold *segmented* text: tokens by `tokenize.py`, separated by
-- single spaces, so that the ascii tokenizer only has to split at them.
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    title, headings, body, path,
    content = '', columnsize = 1, detail = full,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- The postings of every token, for ranking without FTS5's cost a row: uint32[chunks] chunk ids, little
-- endian and ascending, then uint8[chunks] impacts. An impact is BM25's weight of the token in the
-- chunk (k1 1.2, b 0.75, title 4, headings 2, body 1, path 2) without its rarity, in steps of 2.2/255.
CREATE TABLE terms (
    term     TEXT PRIMARY KEY,
    chunks   INTEGER NOT NULL,
    postings BLOB NOT NULL
);

-- Meaning. `vector` is int8[dims], value = int8 * scale: the embedder's unit vector without the mean
-- of its page's language (`vector_means`), made a unit vector again.
CREATE TABLE vectors (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (id),
    vector   BLOB NOT NULL,
    scale    REAL NOT NULL
);

-- Mean vectors, float32[dims], little endian: of all chunks under lang '', and of each language with
-- at least 32 chunks. Chunks of other languages were centred on the mean of all.
CREATE TABLE vector_means (
    lang TEXT PRIMARY KEY,
    mean BLOB NOT NULL
) WITHOUT ROWID;

-- Signs of the centred vectors, transposed: plane p holds bits 64p … 64p+63 of every chunk as
-- little-endian uint64[n], in chunk order; bit b of a word is dimension 64p + b, set when > 0.
CREATE TABLE vector_planes (
    plane INTEGER PRIMARY KEY,
    bits  BLOB NOT NULL
);

-- The model that turns a question into a vector, where the recipe says `carry`: model.onnx (without
-- references to other files) and tokenizer.json.
CREATE TABLE encoder (
    name TEXT PRIMARY KEY,
    data BLOB NOT NULL
);

-- One typed graph. kind: page, chunk, file, symbol, tag, diagram_node, diagram_cluster, repo,
-- missing (what an unresolved link asked for).
CREATE TABLE nodes (
    id       INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL, -- page and file: path (out of the pack: owner/name/path); chunk: key;
                            -- tag: tag; symbol: path::name; repo: owner/name; diagram: page#diagram/node
    label    TEXT NOT NULL DEFAULT '',
    page_id  INTEGER REFERENCES pages (id),
    chunk_id INTEGER REFERENCES chunks (id),
    UNIQUE (kind, name)
);

-- kind: wikilink, embed, link, tag, section_link, code_ref, diagram_edge, diagram_member,
-- cross_repo_ref, defines, unresolved. `chunk_id` and `line` are the evidence.
CREATE TABLE edges (
    id       INTEGER PRIMARY KEY,
    src      INTEGER NOT NULL REFERENCES nodes (id),
    dst      INTEGER NOT NULL REFERENCES nodes (id),
    kind     TEXT NOT NULL,
    label    TEXT NOT NULL DEFAULT '',
    fragment TEXT NOT NULL DEFAULT '', -- the anchor in the target
    chunk_id INTEGER REFERENCES chunks (id),
    line     INTEGER
);
CREATE INDEX edges_src ON edges (src, kind);
CREATE INDEX edges_dst ON edges (dst, kind);

-- What code defines. Lines are the file's; kind: class, function, method, struct, interface, …
CREATE TABLE symbols (
    id         INTEGER PRIMARY KEY,
    source_id  INTEGER NOT NULL REFERENCES sources (id),
    name       TEXT NOT NULL, -- qualified: `Flask.run`
    kind       TEXT NOT NULL,
    signature  TEXT NOT NULL,
    file       TEXT NOT NULL, -- the path of its file's page
    anchor     TEXT NOT NULL, -- id in the rendered page
    first_line INTEGER NOT NULL,
    last_line  INTEGER NOT NULL,
    doc        TEXT NOT NULL DEFAULT '',
    chunk_id   INTEGER REFERENCES chunks (id) -- that holds its first line
);

-- What a symbol is called: its whole name and the last part of it, folded as words are.
CREATE TABLE symbol_names (
    name      TEXT NOT NULL,
    symbol_id INTEGER NOT NULL REFERENCES symbols (id),
    PRIMARY KEY (name, symbol_id)
) WITHOUT ROWID;

-- Links that a page could have, the best first. kind: mention (`text` names `target` without a link),
-- broken (`text` is a link's target that leads nowhere; `target` has the nearest name, or is ''), near
-- (alike in meaning, and neither links to the other). Where `start` is given, `text` stands at that
-- character of the page's Markdown, and `link` is what to write instead.
CREATE TABLE suggestions (
    page_id INTEGER NOT NULL REFERENCES pages (id),
    rank    INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    target  TEXT NOT NULL, -- a page's path
    message TEXT NOT NULL,
    text    TEXT NOT NULL,
    line    INTEGER NOT NULL, -- of the file; 0: nowhere
    start   INTEGER,
    link    TEXT NOT NULL,
    PRIMARY KEY (page_id, rank)
) WITHOUT ROWID;

-- Every tag in use or allowed by the taxonomy. `use` is what to write instead, or ''; `twins` is a JSON
-- array of {tag, why}: case, hyphen, plural or translation; `allowed` is NULL without a taxonomy.
CREATE TABLE tags (
    tag     TEXT PRIMARY KEY,
    pages   INTEGER NOT NULL,
    twins   TEXT NOT NULL DEFAULT '[]',
    use     TEXT NOT NULL DEFAULT '',
    allowed INTEGER,
    about   TEXT NOT NULL DEFAULT '', -- what the taxonomy says of it
    message TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- Concepts (titles of pages) that passages hold together oftener than by chance, while no page joins
-- them; what is least by chance first.
CREATE TABLE concepts (
    id       INTEGER PRIMARY KEY,
    concepts TEXT NOT NULL,    -- JSON array
    targets  TEXT NOT NULL,    -- JSON array of their pages' paths
    pages    INTEGER NOT NULL, -- that hold all of them in one passage
    lift     REAL NOT NULL,    -- how many times as often as by chance
    score    REAL NOT NULL,    -- log-likelihood ratio
    message  TEXT NOT NULL
);

-- The chunks that show a group of concepts, at most one a page.
CREATE TABLE concept_passages (
    concept_id INTEGER NOT NULL REFERENCES concepts (id),
    ordinal    INTEGER NOT NULL,
    chunk_id   INTEGER NOT NULL REFERENCES chunks (id),
    PRIMARY KEY (concept_id, ordinal)
) WITHOUT ROWID;

-- What differs from the previous pack (meta's `previous_version`; the numbers are in its `changes`).
-- kind: page (how: added, changed, moved, removed), orphan (linked from nowhere, and was not so), tag,
-- edge, symbol, finding (the first 1,000 of each; `lorepack diff` tells all). `path` is a page's, or the name of what changed.
-- A section that changed has a `diff` too: unified, sentence by sentence, of at most 4,000 characters.
CREATE TABLE changes (
    id       INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    how      TEXT NOT NULL,
    path     TEXT NOT NULL,
    title    TEXT NOT NULL DEFAULT '',
    before   TEXT NOT NULL DEFAULT '',  -- where a moved page was
    sections TEXT NOT NULL DEFAULT '[]' -- JSON array of {anchor, heading, how}
);

-- What the build noticed. severity: error, warning, info. A path need not be a page's: a file that
-- could not be read has findings too.
CREATE TABLE findings (
    id       INTEGER PRIMARY KEY,
    rule     TEXT NOT NULL,
    severity TEXT NOT NULL,
    path     TEXT NOT NULL,
    line     INTEGER NOT NULL,
    message  TEXT NOT NULL,
    fix      TEXT NOT NULL DEFAULT ''
);

-- The rendered site, in SQLite's own archive form: data is zlib-compressed when shorter than sz.
CREATE TABLE sqlar (
    name  TEXT PRIMARY KEY,
    mode  INT,
    mtime INT,
    sz    INT,
    data  BLOB
);
