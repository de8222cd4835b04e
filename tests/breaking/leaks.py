"""The secrets of a run, searched for in everything that the service and PostgreSQL logged."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from tests.breaking.grounds import SETTINGS
from tests.telling.push_service import WEB_PUSH_KEY

# A log may have a secret between other characters, so both are compared by their words.
WORD = re.compile(rb"[A-Za-z0-9_-]{16,}")
# As journals have it: in JSON, and in JSON that is a string there.
NONCE = re.compile(rb'nonce\\*": ?\\*"([A-Za-z0-9_-]+)')


def find_leaks(folder: Path, secrets: Mapping[bytes, str]) -> list[str]:
    """Return a sentence for each log of the folder, and each kind of secret that stands in it."""
    return [
        f"{path.relative_to(folder)} has {what} ({times} times)"
        for path in sorted(folder.rglob("*.log"))
        for what, times in _count(path, secrets).items()
    ]


def _count(path: Path, secrets: Mapping[bytes, str]) -> Counter[str]:
    with path.open("rb") as lines:
        return Counter(
            secrets[word] for line in lines for word in WORD.findall(line) if word in secrets
        )


def collect_secrets(
    facts: Mapping[str, Any], logs: Path, heard: AbstractSet[tuple[str, str]]
) -> dict[bytes, str]:
    """Return what each secret of a run is, by its longest word.

    `heard` are the cookies, codes, tokens and keys that people and programs were given, each with
    what it is; the rest is in the facts of the company and in the logs of the clients.
    """
    told = {*_of_company(facts), *heard}
    told |= {("a nonce", nonce.decode()) for nonce in _read_nonces(logs.glob("*.jsonl"))}
    words = ((what, WORD.findall(secret.encode())) for what, secret in told)
    return {max(found, key=len): what for what, found in words if found}


def _of_company(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "the secret key", SETTINGS["SECRET_KEY"]
    yield "the key of push messages", WEB_PUSH_KEY
    for each in (*facts["clients"], *facts["askers"]):
        yield "a credential", each["credential"]
        yield "a password", each["password"]
    for each in (*facts["clients"], *facts["staff"].values()):
        yield "a private key", each["passkey"]["key"]


def _read_nonces(journals: Iterable[Path]) -> Iterator[bytes]:
    for path in journals:
        with path.open("rb") as lines:
            for line in lines:
                yield from NONCE.findall(line)
