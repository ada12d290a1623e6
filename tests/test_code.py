"""Code: what ten languages define, how documents find it, and what is no code worth a page."""

from __future__ import annotations

import pytest

from lorepack_builder.parse.code import read_code

SAMPLES = {
    "a.py": (
        '"""About a."""\n\n\n@deco\nclass Box(Base):\n    """A box."""\n\n    def open(self, how: str) -> int:\n'
        '        def inner(): ...\n        return 1\n\n\nasync def fetch(url): ...\n',
        ["class Box", "method Box.open", "function fetch"],
    ),
    "a.js": (
        "/** Adds. */\nexport function add(a, b) { return a }\nconst twice = (x) => x * 2;\n"
        "let three = 3;\nclass Box extends Base { open() {} static make() {} }\n",
        ["function add", "function twice", "class Box", "method Box.open", "method Box.make"],
    ),
    "a.ts": (
        "export interface Shape { area(): number }\ntype Id = string;\nenum Color { Red }\n"
        "export abstract class Box<T> { private x = 1; open(): void {} }\n"
        "namespace N { export function f(): void {} }\nconst g = async (): Promise<void> => {};\n",
        ["interface Shape", "method Shape.area", "type Id", "enum Color", "class Box",
         "method Box.open", "namespace N", "method N.f", "function g"],
    ),
    "a.tsx": ("export const App = () => <div>{x}</div>;\n", ["function App"]),
    "a.go": (
        "package a\n\n// Box holds.\ntype Box struct { n int }\n\ntype Opener interface { Open() }\n"
        "// Open opens.\nfunc (b *Box) Open() error { return nil }\nfunc New[T any](n T) *Box { return nil }\n",
        ["struct Box", "interface Opener", "method Box.Open", "function New"],
    ),
    "a.rs": (
        "/// A box.\n#[derive(Debug)]\npub struct Box2 { n: u8 }\nimpl<T> Box2<T> {\n    /// Opens.\n"
        "    pub fn open(&self) -> u8 { 1 }\n}\ntrait Open { fn open(&self); }\nenum E { A }\n"
        "mod inner { pub fn f() {} }\nmacro_rules! m { () => {} }\nconst N: u8 = 1;\n",
        ["struct Box2", "method Box2.open", "trait Open", "method Open.open", "enum E",
         "module inner", "method inner.f", "macro m", "constant N"],
    ),
    "A.java": (
        "package a;\n/** A box. */\n@Deprecated\npublic class Box<T> {\n  Box() {}\n  /** Opens. */\n"
        "  public int open(String how) { return 1; }\n  interface Lid { void lift(); }\n}\n"
        "record P(int x) {}\nenum E { A }\n",
        ["class Box", "constructor Box.Box", "method Box.open", "interface Box.Lid",
         "method Box.Lid.lift", "record P", "enum E"],
    ),
    "a.c": (
        "#include <a.h>\n/* Adds. */\nstatic int *add(int a, int b) { return 0; }\n"
        "struct box { int n; };\ntypedef struct box box_t;\nenum e { A };\n#define TWICE(x) ((x)*2)\n"
        "int later(void);\nint counter;\n",
        ["function add", "struct box", "type box_t", "enum e", "macro TWICE", "function later"],
    ),
    "a.cpp": (
        "namespace n {\n/// A box.\ntemplate <class T>\nclass Box {\n public:\n  int open() const;\n"
        "  int shut() { return 1; }\n  int n;\n};\nint Box::open() const { return 1; }\n}\n"
        "struct S { int x; };\nusing Id = int;\n",
        ["namespace n", "class n.Box", "method n.Box.open", "method n.Box.shut", "method n.Box.open",
         "struct S", "type Id"],
    ),
    "a.cs": (
        "namespace N {\n  /// <summary>A box.</summary>\n  public class Box {\n    public Box() {}\n"
        "    public int Size { get; set; }\n    public void Open(int how) {}\n  }\n"
        "  interface ILid { void Lift(); }\n  enum E { A }\n  struct S {}\n}\n",
        ["namespace N", "class N.Box", "constructor N.Box.Box", "property N.Box.Size",
         "method N.Box.Open", "interface N.ILid", "method N.ILid.Lift", "enum N.E", "struct N.S"],
    ),
    "a.rb": (
        "module M\n  # A box.\n  class Box < Base\n    def open(how)\n    end\n    def self.make\n    end\n"
        "  end\nend\ndef top\nend\n",
        ["module M", "class M.Box", "method M.Box.open", "method M.Box.make", "method top"],
    ),
    "a.php": (
        "<?php\nnamespace N;\n/** A box. */\nclass Box {\n  public function open($how) {}\n}\n"
        "interface Lid { function lift(); }\ntrait T {}\nfunction top() {}\n",
        ["class Box", "method Box.open", "interface Lid", "method Lid.lift", "trait T",
         "function top"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_each_language_gives_its_symbols(name: str) -> None:
    text, expected = SAMPLES[name]
    code = read_code(name, text)
    assert [f"{symbol.kind} {symbol.name}" for symbol in code.symbols] == expected
    lines = text.split("\n")
    for symbol in code.symbols:
        last_part = symbol.name.rpartition(".")[2]
        assert last_part in "\n".join(lines[symbol.first_line - 1 : symbol.last_line])
        assert last_part in symbol.signature
    assert len({symbol.anchor for symbol in code.symbols}) == len(code.symbols)


@pytest.mark.parametrize("name", [n for n in SAMPLES if n not in ("a.tsx",)])
def test_comments_of_each_language_become_docs(name: str) -> None:
    text, _ = SAMPLES[name]
    docs = [symbol.doc for symbol in read_code(name, text).symbols if symbol.doc]
    if name == "a.ts":
        assert docs == []
        return
    assert any(doc.startswith(("A box.", "Adds.", "Box holds.", "<summary>A box.")) for doc in docs)
    assert not any(sign in doc for doc in docs for sign in ("/*", "*/", "///", '"""'))
