"""The logo: the picture of a file that somebody uploads, and nothing else of the file."""

from hashlib import sha256
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from invoicing.models import Company, Logo
from invoicing.services.logos import MAX_BYTES
from tests.admin.forms import add_url_of, assert_saved, form_of, refused, save, url_of
from tests.administration import acts_written, make_administrator
from tests.factories import UserFactory
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

RED = (255, 0, 0, 128)


def png(size=(40, 10), *, mode="RGBA", colour=RED, **saved: object):
    file = BytesIO()
    Image.new(mode, size, colour).save(file, "PNG", **saved)
    return file.getvalue()


def moving_png():
    return png(save_all=True, append_images=[Image.new("RGBA", (40, 10))])


def upload(desk, company, content, **fields: object):
    file = SimpleUploadedFile("../logo.png", content, "text/html")
    return save(desk, company, logo_file=file, **fields)


def test_a_logo_is_kept_as_its_picture_alone(desk, company):
    texts = PngInfo()
    texts.add_text("Author", "Milo of Hamburg", zip=True)
    profile = {"pnginfo": texts, "dpi": (300, 300), "icc_profile": b"profile" * 20}
    sent = png(**profile) + b"<script>trailing</script>"
    assert_saved(upload(desk, company, sent, city="Halden"))

    logo = Logo.objects.get()
    assert Company.objects.get().logo == logo
    assert logo.digest == sha256(logo.png).hexdigest()
    kept = Image.open(BytesIO(logo.png))
    assert (kept.format, kept.size, kept.getpixel((5, 5)), kept.info) == ("PNG", (40, 10), RED, {})
    assert b"trailing" not in logo.png
    assert acts_written() == [("company:changed", str(company.id), "city, logo")]


def test_the_same_picture_is_kept_once_and_changes_nothing(desk, company):
    assert_saved(upload(desk, company, png()))
    assert_saved(upload(desk, company, png(compress_level=0)))
    assert Logo.objects.count() == len(acts_written()) == 1


def test_a_logo_is_replaced_and_removed_and_papers_keep_theirs(desk, company):
    assert_saved(upload(desk, company, png()))
    page = main_of(desk.get(url_of(company)))
    assert f'<img class="logo" src="/logos/{Logo.objects.get().digest}"' in page
    assert_saved(upload(desk, company, png((10, 10)), remove_logo="on"))
    replaced = Logo.objects.get(pk=Company.objects.get().logo_id)
    assert Image.open(BytesIO(replaced.png)).size == (10, 10)
    assert_saved(save(desk, company, remove_logo="on"))
    assert Company.objects.get().logo is None
    assert Logo.objects.count() == 2
    assert [detail for _, _, detail in acts_written()] == ["logo"] * 3
    assert "Remove the logo" not in main_of(desk.get(url_of(company)))


def test_the_company_is_founded_with_its_logo(sign_in, db):
    desk = sign_in(UserFactory.create(is_staff=True, is_superuser=True))
    file = SimpleUploadedFile("logo.png", png())
    form = {**form_of(desk.get(add_url_of(Company))), "name": "Halden", "logo_file": file}
    assert_saved(desk.post(add_url_of(Company), form))
    assert Company.objects.get().logo == Logo.objects.get()


NO_PNG = "This is not a PNG file that can be read."
REFUSED = {
    "svg": (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", NO_PNG),
    "broken off": (lambda: png()[:-40], NO_PNG),
    "one byte": (lambda: b"x", NO_PNG),
    "deep grey": (lambda: png(mode="I;16", colour=30_000), NO_PNG),
    "none": (lambda: b"", "The submitted file is empty."),
    "large": (lambda: png() + bytes(MAX_BYTES), "This file is larger than 200 kB."),
    "huge": (lambda: png() + bytes(30 * MAX_BYTES), "This file is larger than 200 kB."),
    "wide": (lambda: png((2001, 1)), "This picture is wider or higher than 2000 pixels."),
    "a bomb": (lambda: png((30_000, 30_000), mode="1", colour=0), "This picture is wider"),
    "moving": (moving_png, "This picture is animated."),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_any_other_file_is_refused_in_words(desk, company, kind):
    make, told = REFUSED[kind]
    said = refused(lambda: upload(desk, company, make(), city="Halden"))
    assert list(said) == ["logo_file"]
    assert said["logo_file"][0].startswith(told)


def test_an_svg_is_told_to_become_a_png(desk, company):
    said = refused(lambda: upload(desk, company, b"<svg/>"))
    assert "Export the logo as a PNG" in said["logo_file"][0]


def test_a_logo_whose_act_is_refused_is_not_kept(desk, company):
    form = {**form_of(desk.get(url_of(company))), "logo_file": SimpleUploadedFile("a", png())}
    Company.objects.update(city="Halden")
    said = refused(lambda: desk.post(url_of(company), form))
    assert said["__all__"][0].startswith("Somebody else changed this")


def test_who_may_not_change_the_company_uploads_nothing(sign_in, company):
    viewer = sign_in(make_administrator("view_company"))
    file = SimpleUploadedFile("logo.png", png())
    assert viewer.post(url_of(company), {"name": "x", "logo_file": file}).status_code == 403
    assert not Logo.objects.exists()


def test_a_file_is_taken_by_the_form_of_the_company_alone(desk, customer):
    file = {"logo_file": SimpleUploadedFile("logo.png", png())}
    assert desk.post(url_of(customer), file).status_code == 400


def test_another_logo_makes_open_approvals_stale(desk, agent, connection, draft_body, company):
    draft = agent.call("drafts.create", draft_body, key="draft").data
    fields = {"lock_version": 1}
    prepared = agent.call("documents.issue_prepare", fields, id=draft["id"], key="prepare").data
    assert_saved(upload(desk, company, png()))
    approval = agent.call("approvals.get", id=prepared["approval_id"]).data
    assert (approval["status"], approval["stale_fields"]) == ("stale", ["seller.logo"])


def test_whoever_is_signed_in_gets_a_logo_and_may_keep_it(sign_in, browser, company):
    Logo.objects.create(digest="a" * 64, png=png())
    guest = sign_in(UserFactory.create(is_guest=True))
    answer = guest.get(f"/logos/{'a' * 64}")
    assert (answer.status_code, answer.content) == (200, png())
    kept = {"Content-Type": "image/png", "Cache-Control": "private, max-age=31536000, immutable"}
    told = {**kept, "ETag": f'"{"a" * 64}"', "X-Content-Type-Options": "nosniff"}
    assert {name: answer[name] for name in told} == told
    again = guest.get(f"/logos/{'a' * 64}", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["Cache-Control"] == kept["Cache-Control"]
    for missing in ("b" * 64, "A" * 64, "x"):
        assert guest.get(f"/logos/{missing}").status_code == 404
    assert browser.get(f"/logos/{'a' * 64}").status_code == 302
