"""Adds many documents to a loaded sample company: `python -m benchmarks.load_documents 10000`.

`load_sample_company` writes each as a person would; this takes a fraction of the time.
"""

import argparse
import os

import django
from tqdm import trange

BATCH_DOCUMENTS = 1000
LINES = 3
# Seven of ten are issued.
ISSUED_TENTHS = 7


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.load_documents", allow_abbrev=False)
    parser.add_argument("documents", type=int)
    wanted = parser.parse_args().documents
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    # Models can be read from here on only.
    from django.utils import timezone  # noqa: PLC0415  see above

    from benchmarks.bulk_documents import NewDocument, write_documents  # noqa: PLC0415  see above
    from benchmarks.sample import find_references  # noqa: PLC0415  see above
    from benchmarks.subjects import make_draft_input  # noqa: PLC0415  see above
    from invoicing.draft_fields import DraftInput  # noqa: PLC0415  see above
    from invoicing.models import User  # noqa: PLC0415  see above
    from invoicing.sample_company.loading import BOOKKEEPER  # noqa: PLC0415  see above

    author = User.objects.get(email=BOOKKEEPER)
    draft = DraftInput.model_validate(make_draft_input(find_references(), lines=LINES))
    for start in trange(0, wanted, BATCH_DOCUMENTS):
        write_documents(
            [
                NewDocument(
                    author=author,
                    draft=draft,
                    issued_at=timezone.now() if number % 10 < ISSUED_TENTHS else None,
                )
                for number in range(start, min(start + BATCH_DOCUMENTS, wanted))
            ]
        )


if __name__ == "__main__":
    main()
