"""The folders of the fonts that documents are printed with. They come as packages."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

# In this order a font is looked for that has a character: Latin, Greek and Cyrillic first.
PACKAGES = (
    "fontpkg_noto_sans",
    "fontpkg_noto_sans_arabic",
    "fontpkg_heebo",
    "fontpkg_noto_sans_thai",
    "fontpkg_noto_sans_devanagari",
)
# Chinese, Japanese and Korean, of the extra `cjk`: 16 MB, read only for a text that needs them.
LARGE_PACKAGES = ("cvttf_NotoSansCJK_Regular",)


@cache
def folders_of(packages: tuple[str, ...]) -> list[str]:
    """Return the folders of those packages that are installed, which are not imported."""
    found = (find_spec(name) for name in packages)
    return [str(Path(spec.origin).parent) for spec in found if spec and spec.origin]
