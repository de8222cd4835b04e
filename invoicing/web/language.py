"""The language of a page: the one that the person chose, then the browser's, then English."""

from collections.abc import Callable
from functools import lru_cache
from typing import cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language, get_supported_language_variant, override
from django.utils.translation.trans_real import parse_accept_lang_header

from invoicing.models import User


class LanguageMiddleware:
    """Comes after authentication; what comes after it is in the language, and so is an error page.

    Agents never get here: the tools answer in English, whatever a header asks for.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        # A database that is gone is told in the browser's language.
        self.answer = cast(
            "Callable[[HttpRequest], HttpResponse]", convert_exception_to_response(self._answer)
        )

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with override(language_of_browser(request)):
            return self.answer(request)

    def _answer(self, request: HttpRequest) -> HttpResponse:
        with override(_language_of_person(request) or get_language()):
            response = self.get_response(request)
            if response.get("Content-Type", "").startswith("text/html"):
                response.headers.setdefault("Content-Language", get_language())
                patch_vary_headers(response, ("Accept-Language",))
            return response


def language_of_browser(request: HttpRequest) -> str:
    """Return which of our languages the browser prefers, or English if it speaks none of them."""
    return _choose(request.META.get("HTTP_ACCEPT_LANGUAGE", ""))


@lru_cache(maxsize=1000)
def _choose(accepted: str) -> str:
    for code, _ in parse_accept_lang_header(accepted):
        try:
            return get_supported_language_variant(code)
        except LookupError:  # also of "*", which any language fits
            continue
    return settings.LANGUAGE_CODE


def _language_of_person(request: HttpRequest) -> str:
    """Return what the person chose; empty if that is the browser's, or nobody has signed in.

    Without a cookie of a session nothing is asked of the database.
    """
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return ""
    person = request.user
    return person.spoken if isinstance(person, User) else ""
