"""What has to be signed, in the owner's section."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from typing_extensions import override

from agent_access import signing
from agent_access.admin.owners import FORM_METHODS, OwnersModelAdmin, owners_act
from agent_access.audit import Actor, make_origin
from agent_access.connections import live_connections
from agent_access.models import Transport
from agent_access.passkeys.models import Passkey, SigningRules
from agent_access.passkeys.options import assertion_options
from agent_access.passkeys.rule_forms import RulesForm
from agent_access.passkeys.ruling import (
    NoPasskeyError,
    ask_to_change,
    change_rules,
    demands_anything,
    is_looser,
    record_refusal,
)
from agent_access.signing import SignatureRefusedError

PAGE = "admin:agent_passkeys_signingrules_changelist"
NAMES_SHOWN = 20


@admin.register(SigningRules)
class RulesAdmin(OwnersModelAdmin):
    position = 4
    purposes = {
        "agent_passkeys_signingrules_changelist": gettext_lazy(
            "Which approvals need a signature with a passkey, and whose."
        ),
    }

    @override
    def get_urls(self) -> list[URLPattern]:
        return [
            self.page("", self.show_rules, "changelist", methods=FORM_METHODS),
            self.page("sign/", self.give_options, "sign", methods=("POST",)),
        ]

    def show_rules(self, request: HttpRequest) -> HttpResponse:
        """Show the rules, and change them (POST)."""
        rules = SigningRules.read()
        if request.method != "POST":
            return self._show(request, RulesForm(rules=rules, viewer=request.user))
        form = RulesForm(request.POST, rules=rules, viewer=request.user)
        if not form.is_valid():
            return self._show(request, form, status=422)
        return self._change(request, form)

    def give_options(self, request: HttpRequest) -> HttpResponse:
        """Give the page's script what a browser needs to allow exactly what the form says."""
        form = RulesForm(request.POST, rules=SigningRules.read(), viewer=request.user)
        if not form.is_valid():
            return JsonResponse({}, status=422)
        proof = signing.make_proof(request)
        challenge = ask_to_change(request.user, form.read_rules(), proof)
        return JsonResponse({"publicKey": assertion_options(challenge)})

    def _change(self, request: HttpRequest, form: RulesForm) -> HttpResponse:
        chosen = form.read_rules()
        proof = signing.make_proof(request, request.POST.get("assertion", ""))
        try:
            with owners_act(request) as owner:
                change_rules(owner, request.user, chosen, proof)
        except NoPasskeyError:
            form.add_error(None, _("Add a passkey of your own first: you could sign nothing."))
            return self._show(request, form, status=422)
        except SignatureRefusedError as refusal:
            if proof.assertion:
                actor = Actor(make_origin(Transport.WEB), request.user.pk)
                record_refusal(actor, refusal)
            return self._show(request, form, refusal=refusal, status=refusal.status)
        messages.success(request, _("This is what has to be signed from now on."))
        return redirect(PAGE)

    def _show(
        self,
        request: HttpRequest,
        form: RulesForm,
        *,
        refusal: SignatureRefusedError | None = None,
        status: int = 200,
    ) -> HttpResponse:
        rules = SigningRules.read()
        has_passkey = Passkey.objects.kept_by(request.user).exists()
        needs_passkey = form.is_valid() and is_looser(form.read_rules(), rules)
        people = _people_without_passkeys()
        context = {
            "title": _("Signed approvals"),
            "form": form,
            "is_on": demands_anything(rules),
            "is_apart": rules.apart,
            "has_passkey": has_passkey,
            "needs_passkey": needs_passkey and has_passkey,
            "refused": refusal.reason if refusal and request.POST.get("assertion") else "",
            "options": reverse("admin:agent_passkeys_signingrules_sign"),
            "people": people[:NAMES_SHOWN],
            "more": max(0, len(people) - NAMES_SHOWN),
        }
        return self.show(request, "signing_rules", context, status=status)


def _people_without_passkeys() -> list[Any]:
    """Return those for whom agents act and who have no passkey, by name."""
    users: Any = get_user_model()._default_manager  # noqa: SLF001  Django's public name for a swapped model's manager
    asked = users.filter(pk__in=live_connections().values("user"))
    kept = Passkey.objects.filter(removed_at=None).values("person")
    return sorted(asked.exclude(pk__in=kept), key=str)
