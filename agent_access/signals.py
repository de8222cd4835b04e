"""What a project may be told after it happened: sent on commit, and by no rollback undone.

What must happen in the same transaction as an approval is a method of the `Policy`. A receiver that
fails is logged, and changes no answer. Nothing in this app listens.

| Signal | Sender | Arguments |
|---|---|---|
| `connection_created` | `Connection` | `connection` |
| `connection_ended` | `Connection` | `connection_id`, `reason`, a `RevokedReason` |
| `call_finished` | `Tool` | `tool`, `connection`, `outcome`, `record_id`, `is_replay` |
| `approval_prepared` | `ApprovalRequest` | `approval` |
| `approval_decided` | `ApprovalRequest` | `approval`, whose `decision` says how |
| `approval_executed` | `ApprovalRequest` | `approval`, `result`: what executing answers |

An `outcome` is `ok` or an error code, as in the audit; refused calls are told of, too. A replay is
a call that finished, and executes nothing again.
"""

from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import Signal

__all__ = [
    "approval_decided",
    "approval_executed",
    "approval_prepared",
    "call_finished",
    "connection_created",
    "connection_ended",
]

connection_created = Signal()
connection_ended = Signal()
call_finished = Signal()
approval_prepared = Signal()
approval_decided = Signal()
approval_executed = Signal()


def send_on_commit(signal: Signal, sender: type, **told: Any) -> None:
    """Send the signal once the transaction is committed, or at once outside of any."""
    if signal.has_listeners(sender):
        transaction.on_commit(partial(signal.send_robust, sender, **told))
