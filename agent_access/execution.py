"""The only path to a tool: grants, input, receipt, run and audit, in the interface's order."""

import logging
from contextlib import nullcontext
from dataclasses import replace
from time import monotonic
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent_access import audit, conf, errors
from agent_access.audit import Fact
from agent_access.authentication import find_revocation_reason
from agent_access.callers import (
    Caller,
    find_caller,
    forget_permissions,
    permissions_may_have_changed,
)
from agent_access.calls import Answer, Arguments, CallContext, ToolCall, ToolResult
from agent_access.database.transactions import snapshot
from agent_access.discovery import challenge_parameters
from agent_access.fields import ToolInput
from agent_access.inputs import find_key_problem, parse_input
from agent_access.keys import Key, from_key, to_key
from agent_access.models import AccessSettings, Connection, ConnectionKind
from agent_access.receipts import claim_receipt, keep_answer, stored_result
from agent_access.request_facts import note
from agent_access.signals import call_finished, send_on_commit
from agent_access.tools import Tool, registry

logger = logging.getLogger(__name__)

# Rights that were read longer ago are read again: a body may come slowly.
FRESH_SECONDS = 1


def execute(call: ToolCall) -> ToolResult:
    """Run and audit one tool call; raise a ToolError if it is refused or fails.

    A write, its receipt and its audit event commit together or not at all. A refusal is audited
    after the rollback, in a transaction of its own.
    """
    try:
        result = _run(call)
    except Exception as exception:  # noqa: BLE001  the last handler: every failure gets an answer
        # Not kept in a variable, as in the views: a cycle would keep the call until collected.
        raise _record_refusal(call, find_tool_error(exception)) from None
    note(tool=call.tool.name, outcome=audit.OK)
    return result


def is_granted(tool: Tool, connection: Connection) -> bool:
    """Return whether a connection's scopes, or a single capability of the pilot, cover the tool."""
    return tool.scope is None or tool.scope in connection.grants or tool.name in connection.grants


def check_rights(tool: Tool, caller: Caller) -> None:
    """Raise the ToolError that keeps the caller from the tool: its module, scope, permissions."""
    connection = caller.connection
    if tool.module in caller.settings.modules_off:
        raise errors.NotFoundError
    if not is_granted(tool, connection):
        raise _missing_grant(tool, connection)
    missing = [each for each in tool.permissions if not connection.user.has_perm(each)]
    if missing:
        raise errors.ForbiddenError(
            errors.MISSING_PERMISSION.format(permissions=", ".join(missing))
        )
    if tool.writes and conf.policy().in_demo_mode():
        raise errors.ForbiddenError(errors.DEMO_MODE)


def find_tool_error(exception: Exception) -> errors.ToolError:
    """Return the ToolError that answers an exception: itself, the host's, or 503 for a bug.

    Where AGENT_ACCESS sets RAISE_UNFORESEEN (tests), a bug is raised instead.
    """
    if isinstance(exception, errors.ToolError):
        return exception
    if answer := conf.policy().answer_failure(exception):
        return answer
    return _answer_bug(exception, "A call failed unexpectedly.")


def _run(call: ToolCall) -> ToolResult:
    arguments = call.read_arguments()
    if monotonic() - call.caller.read_at > FRESH_SECONDS:
        call = _refresh_rights(call)
    check_rights(call.tool, call.caller)
    inputs = _parse(call, arguments)
    return _write(call, arguments, inputs) if call.tool.writes else _read(call, inputs)


def _parse(call: ToolCall, arguments: Arguments) -> ToolInput:
    problems = list(arguments.problems)
    if call.tool.writes:
        problems += find_key_problem(call.idempotency_key, field=call.key_field)
    return parse_input(call.tool.input, arguments.values, known_problems=problems)


def _refresh_rights(call: ToolCall) -> ToolCall:
    forget_permissions(call.connection.user)
    return replace(call, caller=replace(call.caller, settings=AccessSettings.read()))


def _missing_grant(tool: Tool, connection: Connection) -> errors.ForbiddenError:
    """Return the refusal; for a browser sign-in it also challenges for the scopes to ask for."""
    message = errors.MISSING_SCOPE.format(scope=tool.scope)
    if connection.kind != ConnectionKind.BROWSER:
        return errors.ForbiddenError(message)
    useful = {*connection.grants, tool.scope}
    scopes = [scope for scope in registry.scopes if scope in useful]
    return errors.InsufficientScopeError(message, scopes=scopes, discovery=challenge_parameters())


def _read(call: ToolCall, inputs: ToolInput) -> ToolResult:
    with snapshot() if call.tool.needs_snapshot else nullcontext():
        answer = _run_tool(call, inputs)
    _require_live(call.connection)
    audit.record_call(_fact(call, record_id=answer.record_id), relaxed=True)
    _tell_finished(call, record_id=answer.record_id)
    return ToolResult(answer.status or call.tool.status, answer.body())


def _write(call: ToolCall, arguments: Arguments, inputs: ToolInput) -> ToolResult:
    with transaction.atomic(durable=True):
        receipt = claim_receipt(call, arguments.values)
        result, content_digest = stored_result(call, receipt), ""
        if result is None:
            answer = _run_tool(call, inputs)
            result = ToolResult(answer.status or call.tool.status, answer.body())
            content_digest = answer.content_digest
            receipt.record_id = to_key(answer.record_id)
            keep_answer(receipt, call.tool, result)
        record_id = from_key(receipt.record_id, call.tool.id_type)
        fact = _fact(call, record_id=record_id, is_replay=result.is_replay)
        audit.record_call(replace(fact, content_digest=content_digest))
        # After the last wait, for the chain's lock.
        _check_still_allowed(call, record_id, is_replay=result.is_replay)
        _require_live(call.connection)
        _tell_finished(call, record_id=record_id, is_replay=result.is_replay)
    return result


def _run_tool(call: ToolCall, inputs: ToolInput) -> Answer:
    if call.target_id is None and call.target is not None:
        raise errors.NotFoundError
    context = CallContext(
        user=call.connection.user,
        connection=call.connection,
        settings=call.caller.settings,
        target=call.target_id,
        idempotency_key=call.idempotency_key or "",
    )
    answer: Answer = call.tool.run(context, inputs)
    return answer


def _check_still_allowed(call: ToolCall, record_id: Key | None, *, is_replay: bool) -> None:
    """Check everything again after the last wait, so that no right is used once withdrawn.

    Some permissions guard records, not tools: if any has changed, the record is looked for again.
    So is the record of a replay, which nothing else has looked for.
    """
    caller = find_caller(id=call.connection.id)
    if caller is None or find_revocation_reason(caller.connection, is_approved=caller.is_approved):
        raise errors.UnauthenticatedError
    check_rights(call.tool, caller)
    user = caller.connection.user
    if is_replay or permissions_may_have_changed(call.connection.user, user):
        _look_again(call.tool, user, record_id)


def _look_again(tool: Tool, user: Any, record_id: Key | None) -> None:
    if record_id is not None and tool.find_record is not None:
        tool.find_record(user, record_id)
    elif tool.check_user is not None:
        tool.check_user(user)


def _require_live(connection: Connection) -> None:
    """Refuse a call whose connection expired while its body came, or it waited for a lock."""
    if not connection.is_live(timezone.now()):
        raise errors.UnauthenticatedError


def _fact(
    call: ToolCall,
    *,
    outcome: str = audit.OK,
    record_id: Key | None = None,
    is_replay: bool = False,
) -> Fact:
    target = call.target_id or record_id
    # The record may be another one than the target; the event then names both.
    other = str(record_id) if record_id and record_id != target else ""
    return Fact(
        action=call.tool.name,
        origin=call.origin,
        actor_id=call.connection.user_id,
        connection_id=call.connection.id,
        target=str(target or ""),
        outcome=outcome,
        detail="replayed" if is_replay else other,
    )


def _record_refusal(call: ToolCall, error: errors.ToolError) -> errors.ToolError:
    """Audit the refusal and return its error; raise UnavailableError if it cannot be audited."""
    note(tool=call.tool.name, outcome=error.code)
    try:
        is_read = not call.tool.writes
        with nullcontext() if is_read else transaction.atomic():
            audit.record_refusal(_fact(call, outcome=error.code), relaxed=is_read)
    except Exception as exception:  # noqa: BLE001  an unrecorded refusal is answered by 503
        raise _answer_bug(exception, "A refusal could not be audited.") from None
    _tell_finished(call, outcome=error.code)
    return error


def _tell_finished(
    call: ToolCall,
    *,
    outcome: str = audit.OK,
    record_id: Key | None = None,
    is_replay: bool = False,
) -> None:
    send_on_commit(
        call_finished,
        Tool,
        tool=call.tool,
        connection=call.connection,
        outcome=outcome,
        record_id=record_id,
        is_replay=is_replay,
    )


def _answer_bug(exception: Exception, sentence: str) -> errors.UnavailableError:
    """Log a bug; return the 503 that answers it, or raise the bug where the project asks for it."""
    if conf.raise_unforeseen():
        raise exception
    logger.error(sentence, exc_info=exception)
    return errors.UnavailableError()
