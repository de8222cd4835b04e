"""The one table from the domain's failures to the interface's errors."""

from collections.abc import Callable, Mapping
from typing import Any

from agent_access import errors
from invoicing.errors import ConflictError, DraftInvalidError, RecordNotFoundError


def _validation_failed(failure: DraftInvalidError) -> errors.ValidationFailedError:
    return errors.ValidationFailedError(
        errors.FieldProblem(problem.path, problem.problem) for problem in failure.problems
    )


FAILURES: Mapping[type[Exception], Callable[[Any], errors.ToolError]] = {
    RecordNotFoundError: lambda _failure: errors.NotFoundError(),
    ConflictError: lambda _failure: errors.ConflictError(),
    DraftInvalidError: _validation_failed,
}
