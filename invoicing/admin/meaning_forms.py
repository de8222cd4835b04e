"""The form parts in which somebody says what a rate, or a line without one, means on paper."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.texts import ControlCharacterError, normalise_text
from agent_access.translations import Text
from invoicing.models import Company, TaxCategory, TaxRate
from invoicing.models.company import UNTAXED
from invoicing.services.record_changes import UNREADABLE, digest_record
from invoicing.tax_wordings import NAMES, WORDINGS, Texts, Wording, find_wording

NAME_LENGTH = 100
REASON_LENGTH = 500
NOT_CHOSEN = _("Not chosen yet")
CHECK_TEXTS = _(
    "The texts below are what we propose to print. Check them, change what does not fit, and save"
    " once more."
)
CHOOSE_FIRST = _("Choose what the texts below are about.")
TAXED_ABOVE_ZERO = _("A rate of 0 percent is not taxed. Choose why no tax is charged.")
FREE_IS_ZERO = _("Only a rate of 0 percent fits this category. Choose that this rate is taxed.")
NO_REASON = _("The law requires a reason here.")
SUPERFLUOUS_REASON = _("Leave this empty: only a rate without tax has a reason.")
# Their 0 % needs no reason, or is none.
WITHOUT_REASON = frozenset({TaxCategory.STANDARD, TaxCategory.ZERO})

LABELS = {"name": _("Name in {language}"), "reason": _("Reason in {language}")}

Choices = list[tuple[str, Any]]


class PaperTextField(forms.CharField):
    """A text that papers print in one line, or as much as it needs."""

    @override
    def clean(self, value: Any) -> str:
        try:
            return normalise_text(super().clean(value), multiline=True).replace("\n", " ")
        except ControlCharacterError:
            raise ValidationError(UNREADABLE) from None


def _fields(kind: str, length: int, widget: forms.Widget) -> dict[str, forms.Field]:
    return {
        f"{kind}_{code}": PaperTextField(
            label=format_lazy(LABELS[kind], language=gettext_lazy(language)),
            required=False,
            max_length=length,
            widget=widget,
        )
        for code, language in settings.DOCUMENT_LANGUAGES
    }


NAME_FIELDS = _fields("name", NAME_LENGTH, forms.TextInput())
REASON_FIELDS = _fields("reason", REASON_LENGTH, forms.Textarea({"rows": 3}))
_Fields: Any = type("_Fields", (forms.Form,), {**NAME_FIELDS, **REASON_FIELDS})


class MeaningForm(_Fields):  # type: ignore[misc]  # a form with fields for each language
    """A choice, and the texts that are printed.

    Once somebody has chosen, the proposed texts are filled in where none was typed, and the form
    is shown again before anything is saved; `proposed` is the choice for which that was done.
    """

    data: Any
    meaning = forms.ChoiceField(label=_("Category"), required=False)
    proposed = forms.CharField(required=False, widget=forms.HiddenInput)

    def show(
        self, wordings: Mapping[str, Wording], chosen: str, names: Texts, reasons: Texts
    ) -> None:
        """Offer wordings, and show which is chosen, if any, and its texts."""
        self.fields["meaning"].choices = [*_unchosen(chosen), *_in_groups(wordings)]
        texts = _spread(names, reasons)
        self.initial |= {"meaning": chosen, "proposed": chosen, **texts}

    def percentage_meant(self) -> int | None:
        """Return the rate's percentage, in ten-thousandths; None for what has none."""
        return None

    @override
    def clean(self) -> None:
        super().clean()
        chosen = self.cleaned_data.get("meaning")
        if chosen is None:
            return
        if not chosen:
            if any(self.cleaned_data.get(name) for name in self._texts()):
                self.add_error("meaning", CHOOSE_FIRST)
        elif problem := _mismatch(WORDINGS[chosen].category, self.percentage_meant()):
            self.add_error("meaning", problem)
        elif proposed := self._proposed_anew(chosen):
            self.data = self.data.copy()
            self.data.update({self.add_prefix(name): text for name, text in proposed.items()})
            self.add_error("meaning", CHECK_TEXTS)
        else:
            self._check_reasons(chosen)

    def _texts(self) -> list[str]:
        return [name for name in (*NAME_FIELDS, *REASON_FIELDS) if name in self.fields]

    def _proposed_anew(self, chosen: str) -> dict[str, str]:
        """Return what to show instead of texts that nobody typed, if another choice was made."""
        former = self.cleaned_data.get("proposed", "")
        if chosen == former:
            return {}
        old, new = _proposal(former), _proposal(chosen)
        typed = {name: self.cleaned_data.get(name, "") for name in self._texts()}
        filled = {
            name: new.get(name, "")
            for name, text in typed.items()
            if text in {"", old.get(name), self.initial.get(name)}
        }
        return {**filled, "proposed": chosen} if {**typed, **filled} != typed else {}

    def _check_reasons(self, chosen: str) -> None:
        is_wanted = WORDINGS[chosen].category not in WITHOUT_REASON
        for name in REASON_FIELDS:
            if bool(self.cleaned_data.get(name)) != is_wanted and name not in self.errors:
                self.add_error(name, NO_REASON if is_wanted else SUPERFLUOUS_REASON)

    def chosen(self) -> Wording | None:
        """Return what is chosen in a valid form."""
        return WORDINGS.get(self.cleaned_data["meaning"])

    def texts(self, kind: str) -> dict[str, str]:
        """Return a valid form's names or reasons by language."""
        codes = dict(settings.DOCUMENT_LANGUAGES)
        typed = {code: self.cleaned_data[f"{kind}_{code}"] for code in codes}
        return {code: text for code, text in typed.items() if text}


def _unchosen(chosen: str) -> Choices:
    """Return the choice of nothing, which is no choice any more once something is chosen."""
    return [] if chosen else [("", NOT_CHOSEN)]


def _in_groups(wordings: Mapping[str, Wording]) -> Iterator[tuple[str, Any]]:
    for heading, group in groupby(wordings.items(), key=lambda item: _heading(item[1])):
        choices = [(key, wording.label) for key, wording in group]
        if len(choices) > 1:
            yield heading, choices
        else:
            yield from choices


def _heading(wording: Wording) -> str:
    return gettext("Small business") if wording.is_small_business else str(wording.category.label)


def _spread(names: Texts, reasons: Texts) -> dict[str, str]:
    kinds = {"name": names, "reason": reasons}
    return {f"{kind}_{code}": text for kind, texts in kinds.items() for code, text in texts.items()}


def _proposal(key: str) -> dict[str, str]:
    wording = WORDINGS.get(key)
    return _spread(NAMES[wording.category], wording.reasons) if wording else {}


def _mismatch(category: TaxCategory, percentage: int | None) -> Text:
    """Return what is wrong with a category for this percentage, if anything is."""
    if percentage is None or (category == TaxCategory.STANDARD) == bool(percentage):
        return ""
    return FREE_IS_ZERO if percentage else TAXED_ABOVE_ZERO


def show_rate(form: MeaningForm, rate: TaxRate) -> None:
    """Show in a form what a rate means."""
    chosen = rate.category and find_wording(rate.category, rate.reasons)
    form.show(WORDINGS, chosen, rate.names, rate.reasons)


def rate_changes(form: MeaningForm) -> dict[str, Any]:
    """Return what a valid form says of a rate, by the rate's fields."""
    wording = form.chosen()
    return {
        "category": wording.category if wording else "",
        "names": form.texts("name"),
        "reasons": form.texts("reason"),
    }


class RecordMeaningForm(MeaningForm):
    """The form of one record among others; `seen` is the digest of the record that it showed."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    explanation: Text = ""

    def __init__(self, *sent: Any, record: Any) -> None:
        super().__init__(*sent, prefix=str(record.pk))
        self.record = record
        self.initial["seen"] = digest_record(record)

    def is_outdated(self) -> bool:
        """Return whether the record is not any more as the form showed it."""
        return bool(self.data.get(self.add_prefix("seen")) != self.initial["seen"])

    @property
    def heading(self) -> Text:
        return str(self.record)

    def text_rows(self) -> list[list[forms.BoundField]]:
        """Return the inputs of the texts, those of one language in one row."""
        rows = zip(NAME_FIELDS, REASON_FIELDS, strict=True)
        return [[self[name] for name in row if name in self.fields] for row in rows]

    def has_texts(self) -> bool:
        return any(self[name].value() for name in self._texts())

    def changes(self) -> dict[str, Any]:
        """Return what a valid form says, by the record's fields."""
        raise NotImplementedError


class RateMeaningForm(RecordMeaningForm):
    """What an existing rate means; only of one above 0 percent the law says it without doubt."""

    def __init__(self, *sent: Any, record: TaxRate) -> None:
        super().__init__(*sent, record=record)
        show_rate(self, record)
        if record.percentage_ten_thousandths and not record.category:
            self.initial |= {"meaning": "S", "proposed": "S", **_proposal("S")}

    @override
    def percentage_meant(self) -> int:
        percentage: int = self.record.percentage_ten_thousandths
        return percentage

    @override
    def changes(self) -> dict[str, Any]:
        return rate_changes(self)


class UntaxedForm(RecordMeaningForm):
    """What lines without a rate mean: a small business charges no tax on any."""

    heading = _("Lines without a rate")
    explanation = _(
        "A small business charges no tax on any line. Otherwise, choose what a line is to which"
        " nobody gave a tax rate."
    )
    OFFERED: Mapping[str, Wording] = {
        key: wording for key, wording in WORDINGS.items() if wording.category in UNTAXED
    }

    def __init__(self, *sent: Any, record: Company) -> None:
        super().__init__(*sent, record=record)
        for name in NAME_FIELDS:
            del self.fields[name]
        category, reasons = record.untaxed_category, record.untaxed_reasons
        small = record.is_small_business
        chosen = category and find_wording(category, reasons, is_small_business=small)
        self.show(self.OFFERED, chosen, {}, reasons)

    @override
    def changes(self) -> dict[str, Any]:
        wording = self.chosen()
        return {
            "untaxed_category": wording.category if wording else "",
            "untaxed_reasons": self.texts("reason"),
            "is_small_business": bool(wording and wording.is_small_business),
        }
