"""What a client says of itself, in a registration or in its document (RFC 7591 section 2)."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_access.models.connections import NAME_LENGTH
from agent_access.oauth.refusals import OAuthRefusalError
from agent_access.oauth.return_addresses import MAX_ADDRESSES, host_of, may_register
from agent_access.visible_text import HIDDEN

PUBLIC = "none"
GRANT_TYPES = ("authorization_code", "refresh_token")
RESPONSE_TYPES = ("code",)

# Combining marks on one letter; Vietnamese needs two.
MAX_MARKS = 2


class InvalidMetadataError(OAuthRefusalError):
    """Metadata that is not accepted, with an error code of RFC 7591 section 3.2.2."""

    def __init__(self, message: str, *, code: str = "invalid_client_metadata") -> None:
        super().__init__(code, message)


@dataclass(frozen=True)
class ClientMetadata:
    """The metadata that matters here; the name is the client's own claim."""

    name: str
    return_addresses: tuple[str, ...]


def read_metadata(values: Mapping[str, Any]) -> ClientMetadata:
    """Return the checked metadata; raise InvalidMetadataError. Unknown members are ignored."""
    _require_entry(values, "grant_types", GRANT_TYPES[0])
    _require_entry(values, "response_types", RESPONSE_TYPES[0])
    addresses = _keep_addresses(values.get("redirect_uris"))
    name = values.get("client_name") or ""
    if not isinstance(name, str):
        raise InvalidMetadataError("client_name must be a text.")
    return ClientMetadata(clean_name(name) or name_host(host_of(addresses[0])), addresses)


def clean_name(name: str) -> str:
    """Return the name as it can be shown, at most NAME_LENGTH characters long.

    Without control, bidirectional and invisible characters, and without piles of marks on one
    letter, which would cover the lines around it.
    """
    spaced = (" " if character.isspace() else character for character in name)
    visible = "".join(filter(_is_visible, spaced))
    unpiled = _limit_combining_marks(unicodedata.normalize("NFC", visible))
    return " ".join(unpiled.split())[:NAME_LENGTH].strip()


def name_host(host: str) -> str:
    """Return a host as a client's name; of a long one the end, which says whose it is."""
    return host if len(host) <= NAME_LENGTH else "…" + host[1 - NAME_LENGTH :]


def _is_visible(character: str) -> bool:
    # Python calls printable what Unicode calls ignorable.
    return character.isprintable() and not HIDDEN.fullmatch(character)


def _limit_combining_marks(text: str) -> str:
    kept = ""
    for character in text:
        pile = kept[-MAX_MARKS:] + character
        if len(pile) <= MAX_MARKS or not all(map(unicodedata.combining, pile)):
            kept += character
    return kept


def _require_entry(values: Mapping[str, Any], member: str, needed: str) -> None:
    """Raise InvalidMetadataError for a list without this entry; further entries are ignored."""
    given = values.get(member)
    if given is not None and not (_is_list_of_texts(given) and needed in given):
        raise InvalidMetadataError(f"{member} must be a list with {needed}.")


def _keep_addresses(given: Any) -> tuple[str, ...]:
    """Return the addresses that may be registered, each once; the others are left out.

    Clients send one list to every server, with addresses of their own scheme such as `cursor://`,
    and use those that the server keeps. More than fit are refused: any that were left out might be
    the one that the client uses, and then only the owner would see an error.
    """
    entries = given if isinstance(given, list) else []
    kept = tuple(dict.fromkeys(filter(may_register, entries)))
    if not 1 <= len(kept) <= MAX_ADDRESSES:
        raise InvalidMetadataError(
            f"Send 1 to {MAX_ADDRESSES} redirect_uris that are https, or http on localhost,"
            " 127.0.0.1 or [::1], without user, fragment or unusual characters. Others are left"
            f" out; of those sent, {len(kept)} can be kept.",
            code="invalid_redirect_uri",
        )
    return kept


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
