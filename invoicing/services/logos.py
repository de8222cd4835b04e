"""The logo on documents: the picture of a PNG file, and nothing else that the file holds."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO

from django.core.exceptions import ValidationError
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from PIL.PngImagePlugin import PngImageFile

from invoicing.models import Logo

MAX_BYTES = 200_000
# Pixels. So a file of a few bytes cannot unfold to gigabytes.
MAX_SIDE = 2_000
# Greys of 16 bits, which the library cuts off at 8.
DEEP_GREY = "I;16"

TOO_LONG = format_lazy(
    _("This file is larger than {kilobytes} kB. Export a smaller PNG."), kilobytes=MAX_BYTES // 1000
)
TOO_WIDE = format_lazy(
    _("This picture is wider or higher than {pixels} pixels. Export a smaller PNG."),
    pixels=MAX_SIDE,
)
MOVING = _("This picture is animated. Export a PNG without animation.")
NO_PNG = _(
    "This is not a PNG file that can be read. Export the logo as a PNG with 8 bits per channel; an"
    " SVG or a JPEG is not taken."
)


def read_logo(upload: bytes) -> Logo:
    """Return the picture of a PNG file as a logo, which is not saved.

    Raises ValidationError for any other file, and for a picture that moves or is too large.
    """
    if len(upload) > MAX_BYTES:
        raise ValidationError(TOO_LONG)
    # Not by Image.open(), which tries other formats and only warns of many pixels.
    with _refusing_what_is_no_png():
        file = PngImageFile(BytesIO(upload))
    if max(file.size) > MAX_SIDE:
        raise ValidationError(TOO_WIDE)
    if file.n_frames > 1:
        raise ValidationError(MOVING)
    if file.mode == DEEP_GREY:
        raise ValidationError(NO_PNG)
    with _refusing_what_is_no_png():
        picture = file.convert("RGBA")
    picture.info = {}  # colour profile, resolution, texts
    kept = BytesIO()
    picture.save(kept, "PNG", optimize=True)
    return Logo(digest=sha256(kept.getvalue()).hexdigest(), png=kept.getvalue())


@contextmanager
def _refusing_what_is_no_png() -> Iterator[None]:
    try:
        yield
    except Exception:  # noqa: BLE001  the library raises whatever it stumbles over
        raise ValidationError(NO_PNG) from None


def keep_logo(logo: Logo) -> None:
    """Save a logo, unless it is kept already."""
    Logo.objects.get_or_create(digest=logo.digest, defaults={"png": logo.png})
