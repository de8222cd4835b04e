from concurrent.futures import ThreadPoolExecutor

from invoicing.identifiers import new_draft_code, new_id


def test_identifiers_are_uuids_of_version_7_in_order() -> None:
    identifiers = [new_id() for _ in range(2000)]
    assert identifiers == sorted(set(identifiers))
    assert {identifier.version for identifier in identifiers} == {7}


def test_threads_never_get_the_same_identifier() -> None:
    with ThreadPoolExecutor(4) as threads:
        identifiers = list(threads.map(lambda _: new_id(), range(2000)))
    assert len(set(identifiers)) == 2000


def test_draft_codes_differ() -> None:
    assert len({new_draft_code() for _ in range(1000)}) == 1000
