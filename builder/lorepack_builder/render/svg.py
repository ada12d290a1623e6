"""SVG attachments without what runs or loads: they are documents when opened by themselves."""

from __future__ import annotations

import re
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_SHAPES = (
    "svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textPath title"
    " desc linearGradient radialGradient stop clipPath mask pattern marker image style filter a"
    " switch view animate animateTransform animateMotion mpath set feBlend feColorMatrix feFlood"
    " feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap"
    " feDistantLight feDropShadow feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge"
    " feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile"
    " feTurbulence"
)
_ALLOWED = frozenset(f"{{{_SVG}}}{name}" for name in _SHAPES.split())
_HREFS = frozenset({"href", f"{{{_XLINK}}}href"})
_EMBEDDED = re.compile(r"#|data:image/(?:png|jpe?g|gif|webp);base64,", re.IGNORECASE)
_LOADS = re.compile(
    r"@import[^;}]*|url\(\s*['\"]?\s*(?!#|data:image/(?:png|jpe?g|gif|webp);)[^)]*\)|expression\(",
    re.IGNORECASE,
)
_NOTHING = (
    f'<svg xmlns="{_SVG}" width="240" height="24"><text x="4" y="16">not a valid SVG</text></svg>'
)

for _prefix, _uri in (("", _SVG), ("xlink", _XLINK)):
    ElementTree.register_namespace(_prefix, _uri)


def sanitize_svg(data: bytes) -> bytes:
    """Return the picture with its shapes alone; a note in its place when it is no valid SVG."""
    # Entities could multiply without end, and hide what is looked for here.
    if re.search(rb"<!(?:ENTITY|DOCTYPE[^>]*\[)", data):
        return _NOTHING.encode()
    try:
        root = ElementTree.fromstring(data)  # noqa: S314
    except (ElementTree.ParseError, ValueError, LookupError):
        return _NOTHING.encode()
    if root.tag != f"{{{_SVG}}}svg":
        return _NOTHING.encode()
    _clean(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _clean(element: ElementTree.Element) -> None:
    for child in list(element):
        if child.tag not in _ALLOWED or _moves_links(child):
            element.remove(child)
        else:
            _clean(child)
    if element.tag == f"{{{_SVG}}}style":
        element.text = _LOADS.sub("", element.text or "")
    for name, value in list(element.attrib.items()):
        if name in _HREFS:
            keep = _may_lead(element, value)
        else:
            plain = name.rpartition("}")[2].lower()
            keep = not plain.startswith("on") and plain not in ("src", "base")
        if not keep:
            del element.attrib[name]
        elif name not in _HREFS:
            element.attrib[name] = _LOADS.sub("none", value)


def _moves_links(element: ElementTree.Element) -> bool:
    """Say whether an animation changes more than how a shape looks."""
    changed = element.get("attributeName", "").rpartition(":")[2].lower()
    return changed == "href" or changed.startswith("on")


def _may_lead(element: ElementTree.Element, value: str) -> bool:
    if element.tag == f"{{{_SVG}}}a":
        return value.startswith(("#", "https://", "http://"))
    return bool(_EMBEDDED.match(value))
