"""IDs of records as text: lower case in answers and addresses, and taken in capitals too."""

import re
from functools import lru_cache
from uuid import UUID

from django.urls.converters import UUIDConverter

# RFC 9562 section 4, where the case makes no difference; no other form, such as urn:uuid:.
SPELLING = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


@lru_cache(maxsize=128)
def read_id(text: str) -> UUID:
    """Return the ID; raise ValueError for any other text.

    Cached, since the lines of one call often name the same few records.
    """
    if not re.fullmatch(SPELLING, text):
        raise ValueError("not an ID")
    return UUID(text)


class IdConverter(UUIDConverter):
    """An ID in the address of a page: `<agent_access_id:pk>`.

    Django's `<uuid:pk>` takes no capitals.
    """

    regex = SPELLING
