"""The originals of issued documents as one ZIP file, with an index."""

from contextlib import closing
from functools import partial
from tempfile import TemporaryFile
from zipfile import ZIP_DEFLATED, ZIP_STORED

from zipstream import ZipStream

from invoicing.exports.cells import CHUNK_LENGTH, Chunks
from invoicing.exports.selection import Read
from invoicing.models import OriginalKind
from invoicing.originals.index import INDEX_HEAD, INDEX_NAME, index_row
from invoicing.originals.periods import WITH_KEPT, originals_of


def write_archive(read: Read) -> Chunks:
    """Yield a ZIP file of the originals of these documents; the index of them is its last file.

    What was not kept before is made on the way, by one child process, which ends with the iterator.
    An original that cannot be made is in the index, with the reason.
    """
    archive = ZipStream(compress_type=ZIP_DEFLATED)
    with closing(originals_of(read(WITH_KEPT))) as originals, TemporaryFile() as index:
        index.write(INDEX_HEAD)
        for found in originals:
            content = found.original.read_content() if found.original else b""
            index.write(index_row(found, len(content)))
            if found.original:
                # A PDF is compressed already.
                method = ZIP_STORED if found.kind == OriginalKind.PDF else ZIP_DEFLATED
                archive.add(content, found.file_name, compress_type=method)
                yield from archive.all_files()
        index.seek(0)
        archive.add(iter(partial(index.read, CHUNK_LENGTH), b""), INDEX_NAME)
        yield from archive.finalize()
