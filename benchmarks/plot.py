"""A bar chart in SVG, readable on light and dark pages."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

COLOURS = ("#7f8c8d", "#1a7f64", "#b5651d", "#5fb89d", "#8e5ea2")
LABEL, BAR, ROW, GAP, WIDTH = 190, 420, 18, 26, 720

Work = Mapping[str, Mapping[str, Any]]


def draw_bars(work: Work, subjects: Sequence[str]) -> str:
    """Return SVG with a bar for each median; the longest of a kind of work has full length."""
    body = list(_draw_groups(work, dict(zip(subjects, COLOURS, strict=True))))
    height = GAP + sum(GAP + ROW * len(by_subject) for by_subject in work.values())
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="sans-serif" font-size="13" fill="#808080">'
    )
    return "\n".join(
        [head, '<text x="8" y="16">median in milliseconds</text>', *body, "</svg>", ""]
    )


def _draw_groups(work: Work, colours: Mapping[str, str]) -> Iterator[str]:
    top = GAP
    for name, by_subject in work.items():
        yield f'<text x="8" y="{top + 14}" font-weight="bold">{escape(name)}</text>'
        slowest = max(figures["p50_ms"] for figures in by_subject.values())
        for row, (subject, figures) in enumerate(by_subject.items()):
            yield from _draw_bar(
                subject, figures["p50_ms"], slowest, colours[subject], top + row * ROW
            )
        top += ROW * len(by_subject) + GAP


def _draw_bar(subject: str, p50: float, slowest: float, colour: str, top: int) -> Iterator[str]:
    length = max(1, round(BAR * p50 / slowest))
    yield f'<text x="{LABEL - 8}" y="{top + 14}" text-anchor="end">{escape(subject)}</text>'
    yield f'<rect x="{LABEL}" y="{top + 3}" width="{length}" height="{ROW - 5}" fill="{colour}"/>'
    yield f'<text x="{LABEL + length + 6}" y="{top + 14}">{p50:.2f}</text>'
