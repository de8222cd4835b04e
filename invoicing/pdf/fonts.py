"""The packages of the fonts that documents are printed with; `document.typ` has their order."""

from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

PACKAGES = (
    "fontpkg_noto_sans",
    "fontpkg_cairo",
    "fontpkg_noto_sans_arabic",
    "fontpkg_heebo",
    "fontpkg_noto_sans_thai",
    "fontpkg_noto_sans_devanagari",
    "fontpkg_arimo",
)
# Chinese, Japanese and Korean, of the extra `cjk`: 16 MB, read only for a text that needs them.
LARGE_PACKAGES = ("cvttf_NotoSansCJK_Regular",)


@cache
def folders_of(packages: tuple[str, ...]) -> list[str]:
    """Return the folders of those packages that are installed; they are not imported."""
    found = map(find_spec, packages)
    return [str(Path(spec.origin).parent) for spec in found if spec and spec.origin]


def font_versions() -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    installed = filter(find_spec, (*PACKAGES, *LARGE_PACKAGES))
    return {name: version(name) for name in installed}
