import pytest

from invoicing.models import Document, OriginalKind
from invoicing.originals.names import file_name_of


@pytest.mark.parametrize(
    ("number", "stem"),
    [
        ("INV-2026-0001", "INV-2026-0001"),
        ("2026.A_0001", "2026.A_0001"),
        ("R/2026/0001", "R+2026+0001"),
        ("A/../../1", "A+..+..+1"),
        ("COM1", "_COM1"),
        ("NUL.0001", "_NUL.0001"),
        ("COM10", "COM10"),
        # What no format writes.
        ('..\\\r\n"%00é\0', "..+++++00++"),
    ],
)
def test_a_file_is_named_by_the_number_and_its_kind(number, stem):
    document = Document(number=number)
    assert [file_name_of(document, kind) for kind in OriginalKind] == [
        f"{stem}.pdf",
        f"{stem}-xrechnung.xml",
        f"{stem}-peppol.xml",
    ]
