"""What each page of these admins is for, in a line under its heading, by the name of its route."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

PURPOSES: Mapping[str, str | Promise] = {
    "invoices_company_changelist": _("The company as its documents show it, and its owner."),
    "invoices_company_add": _("Adds the company. Whoever adds it becomes its owner."),
    "invoices_company_change": _(
        "The company as its documents show it. What is issued already stays as it is."
    ),
    "transfer-ownership": _("Makes somebody else the owner, who alone decides about agents."),
    "export-evidence": _(
        "Takes out all evidence in one file, which anybody can verify without this service."
    ),
    "passkey-rule": _("From which day everybody needs a passkey to sign in."),
    "invoices_customer_changelist": _("Whom documents are written for, and who looks after them."),
    "invoices_customer_add": _("Adds a customer, with all that a lawful document needs of them."),
    "invoices_customer_change": _(
        "One customer. Drafts follow a change; issued documents stay as they are."
    ),
    "invoices_datevsettings_changelist": _(
        "Numbers and accounts for exports to a tax adviser who uses DATEV."
    ),
    "invoices_datevsettings_add": _(
        "Numbers and accounts for exports to a tax adviser who uses DATEV."
    ),
    "invoices_datevsettings_change": _(
        "Numbers and accounts for exports to a tax adviser who uses DATEV."
    ),
    "invoices_numberseries_changelist": _(
        "How documents are numbered when they are issued, one series for each type."
    ),
    "invoices_numberseries_add": _(
        "Adds a series from which documents of a type get their numbers."
    ),
    "invoices_numberseries_change": _("One series of numbers, and which number comes next."),
    "invoices_role_changelist": _("Sets of permissions that people get together."),
    "invoices_role_add": _("Adds a set of permissions that people get together."),
    "invoices_role_change": _(
        "One set of permissions. A change holds for everybody who has it, at once."
    ),
    "invoices_user_changelist": _(
        "Everybody who can sign in, is listed as a colleague, or has agents acting for them."
    ),
    "invoices_user_add": _("Adds a person. A one-time link then lets them choose a password."),
    "invoices_user_change": _(
        "One person: what colleagues see of them, how they sign in, what they may do."
    ),
    "one-time-link": _("Lets a person choose a new password, by a link that works once."),
    "passkey-link": _(
        "Lets a person replace the passkeys that they lost, by a link that works once."
    ),
    "sign-person-out": _("Ends all sessions of a person, and every connection that acts for them."),
    "invoices_taxrate_changelist": _(
        "The rates that lines of documents can have, and what each means in law."
    ),
    "invoices_taxrate_add": _("Adds a rate that lines of documents can have."),
    "invoices_taxrate_change": _(
        "One rate and what it means in law. Issued documents keep theirs."
    ),
    "tax-meanings": _(
        "Says what each tax rate means in law, which documents and e-invoices must state."
    ),
    "invoices_team_changelist": _("Who works together, and who leads each team."),
    "invoices_team_add": _("Adds a team of people who work together."),
    "invoices_team_change": _("One team: its lead and its members."),
    "invoices_skill_changelist": _("What people know, by which colleagues and agents find them."),
    "invoices_skill_add": _("Adds something that people know."),
    "invoices_skill_change": _("One thing that people know."),
}
