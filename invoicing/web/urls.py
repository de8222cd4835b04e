"""The pages for people."""

from django.urls import include, path

from invoicing.models import OriginalKind
from invoicing.web import (
    approvals,
    corrections,
    customer_editor,
    customer_imports,
    customer_page,
    customers,
    document_list,
    documents,
    exports,
    issuing,
    logos,
    originals,
    passkeys,
    people,
    telling,
)
from invoicing.web.accounts import account, passkey_sign_in, preferences, set_password, sign_in
from invoicing.web.activity import page as activity
from invoicing.web.drafts import editor, suggestions
from invoicing.web.evidence import document as evidence_document
from invoicing.web.evidence import downloads as evidence_downloads
from invoicing.web.evidence import listing as evidence_listing
from invoicing.web.home import page
from invoicing.web.setup import connecting, taxes
from invoicing.web.setup import page as setup_page

urlpatterns = [
    path("", page.show_home, name="home"),
    path("setup", setup_page.show_setup, name="setup"),
    path("setup/taxes", taxes.propose_taxes, name="setup-taxes"),
    path("setup/connect", connecting.connect, name="connect"),
    path("setup/connect/call", connecting.tell_first_call, name="first-call"),
    path("sign-in", sign_in.sign_in, name="sign-in"),
    path("sign-in/passkey", passkey_sign_in.sign_in_with_passkey, name="sign-in-with-passkey"),
    path("sign-in/passkey/options", passkey_sign_in.make_options, name="passkey-options"),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("set-password", set_password.set_password, name="set-password"),
    path("account", account.account, name="account"),
    path("account/preferences", preferences.preferences, name="preferences"),
    path("account/sign-out-everywhere", account.end_own_sessions, name="end-own-sessions"),
    path(
        "",
        include(
            (
                # Where people choose how they are told, which is a part of their account.
                [path("account", account.account, name="page"), *telling.urlpatterns],
                "agent_telling",
            )
        ),
    ),
    path(
        "",
        include(
            (
                [path("account", account.account, name="page"), *passkeys.urlpatterns],
                "agent_passkeys",
            )
        ),
    ),
    path("documents", document_list.list_documents, name="documents"),
    path("documents/new", editor.new_draft, name="new-draft"),
    path("documents/<agent_access_id:pk>", documents.show_document, name="document"),
    path("documents/<agent_access_id:pk>/edit", editor.edit_draft, name="edit-draft"),
    path("documents/<agent_access_id:pk>/correct", corrections.correct, name="correct"),
    path(
        "documents/<agent_access_id:pk>/change",
        corrections.change_correction,
        name="change-correction",
    ),
    path("documents/<agent_access_id:pk>/issue", issuing.issue, name="issue"),
    path("documents/<agent_access_id:pk>/issue/sign", issuing.give_options, name="sign-issue"),
    *(
        path(
            f"documents/<agent_access_id:pk>/{kind}",
            originals.download_of(kind),
            name=f"document-{kind}",
        )
        for kind in OriginalKind
    ),
    path("", include((approvals.urlpatterns, "agent_approvals"))),
    path("agents/activity", activity.show_activity, name="activity"),
    path("agents/activity/rows", activity.show_rows, name="activity-rows"),
    path("evidence", evidence_listing.list_evidence, name="evidence"),
    path("evidence/<agent_access_id:pk>", evidence_document.show_evidence, name="evidence-of"),
    *(
        path(
            f"evidence/<agent_access_id:pk>/{kind}",
            evidence_downloads.download_of(kind),
            name=f"evidence-{kind}",
        )
        for kind in OriginalKind
    ),
    path("customers", customers.list_customers, name="customers"),
    path("customers/find", suggestions.find_customer, name="find-customer"),
    path("customers/new", customer_editor.new_customer, name="new-customer"),
    path("customers/<agent_access_id:pk>", customer_page.show_customer, name="customer"),
    path(
        "customers/<agent_access_id:pk>/edit", customer_editor.edit_customer, name="edit-customer"
    ),
    path("exports", exports.export, name="exports"),
    path("customers/import", customer_imports.upload, name="import-customers"),
    path("customers/import/<agent_access_id:pk>", customer_imports.preview, name="customer-import"),
    path(
        "customers/import/<agent_access_id:pk>/left-out",
        customer_imports.list_problems,
        name="import-problems",
    ),
    path("logos/<slug:digest>", logos.show_logo, name="logo"),
    path("people", people.list_people, name="people"),
    path("people/<agent_access_id:pk>", people.show_person, name="person"),
]
