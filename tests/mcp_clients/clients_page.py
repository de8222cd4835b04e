"""The page for clients, docs/clients.md, whose blocks are run as they stand."""

from config.environment import PROJECT_FOLDER

PAGE = (PROJECT_FOLDER / "docs" / "clients.md").read_text(encoding="utf-8")
ADDRESS = "https://localhost:8443/mcp"


def read_block(heading: str, language: str) -> str:
    """Return the section's first block of this language."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return section.split(f"```{language}\n")[1].split("```")[0]
