"""The page that a form was sent from, to come back to after signing in."""

from django.http import HttpRequest


def page_of_form(request: HttpRequest) -> str:
    """Return the path of the page that held the form: the form's own address may answer no GET.

    Browsers send it as Referer within the site (Referrer-Policy); without one it is the address
    of the request itself.
    """
    origin = f"{request.scheme}://{request.get_host()}"
    sender = request.headers.get("Referer", "")
    return (
        sender.removeprefix(origin) if sender.startswith(f"{origin}/") else request.get_full_path()
    )
