"""What a browser is called, so that people know theirs again in a list."""

from django.utils.translation import gettext

# By what a User-Agent header holds; the first one that fits counts, since most claim to be others.
BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "Chrom": "Chrome",
    "CriOS/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Macintosh": "Mac",
    "Linux": "Linux",
}


def name_browser(user_agent: str) -> str:
    """Return a name such as "Firefox, Windows", by the User-Agent header that it sent."""
    known = (_find(names, user_agent) for names in (BROWSERS, SYSTEMS))
    return ", ".join(filter(None, known)) or gettext("Browser")


def _find(names: dict[str, str], user_agent: str) -> str:
    return next((name for part, name in names.items() if part in user_agent), "")
