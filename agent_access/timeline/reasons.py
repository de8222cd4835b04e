"""Why a call was refused and what to do about it, for the person whom it was for or the owner."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agent_access.activity import Reason, reason_of
from agent_access.models import Connection
from agent_access.tools import registry

_ASK_AGAIN = gettext_lazy("The agent can ask its person again.")

# Where the words for the person would speak to somebody else.
FOR_OTHERS: Mapping[str, Reason] = {
    "forbidden": Reason(
        gettext_lazy("It was not allowed."),
        gettext_lazy("If it should be, give the agent's person the right to do it."),
    ),
    "not_found": Reason(
        gettext_lazy("What it named is not there, or out of its person's reach."),
        gettext_lazy("The agent's person can tell it which record they mean."),
    ),
    "unauthenticated": Reason(
        gettext_lazy("Its access had ended."),
        gettext_lazy("If it needs access again, connect it anew."),
    ),
    "approval_pending": Reason(
        gettext_lazy("Its person had not decided yet."),
        gettext_lazy("They decide under Approvals, as long as it waits."),
    ),
    "approval_rejected": Reason(
        gettext_lazy("Its person had rejected it."),
        gettext_lazy("Nothing is to be done, unless they changed their mind."),
    ),
    "approval_stale": Reason(gettext_lazy("The record changed after it asked."), _ASK_AGAIN),
    "approval_expired": Reason(gettext_lazy("The time to decide had passed."), _ASK_AGAIN),
}


def explain_refusal(
    code: str, *, is_own: bool, tool: str = "", connection: Connection | None = None
) -> Reason:
    """Return the reason of an error's code; `is_own` says that its person is who reads it.

    Of a call for which the connection has no grant, the missing scope is named.
    """
    if code == "forbidden" and connection and (scope := _missing_scope(tool, connection)):
        return Reason(
            _("The connection has no grant for %(scope)s.") % {"scope": scope},
            _("If it should have one, the owner renews the connection with it."),
        )
    if not is_own and code in FOR_OTHERS:
        return FOR_OTHERS[code]
    return reason_of(code)


def _missing_scope(name: str, connection: Connection) -> str:
    tool = registry.find(name)
    if tool is None or not tool.scope:
        return ""
    return "" if {tool.scope, tool.name} & {*connection.grants} else tool.scope
