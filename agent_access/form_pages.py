"""Where a form was sent from, for whom is to come back to it."""

from django.http import HttpRequest


def page_of_form(request: HttpRequest) -> str:
    """Return the page on which a form stood: what it was sent to may show nothing.

    A browser tells it to our own pages (Referrer-Policy); without that it is the address itself.
    """
    origin = f"{request.scheme}://{request.get_host()}"
    sender = request.headers.get("Referer", "")
    return (
        sender.removeprefix(origin) if sender.startswith(f"{origin}/") else request.get_full_path()
    )
