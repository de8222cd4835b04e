"""The refusals of Django and REST framework, as they answer a call of a tool."""

import pytest
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.http import Http404
from rest_framework import exceptions, serializers

from agent_access.errors import ValidationFailedError
from agent_access.failures import PROBLEMS, answer_failure
from invoicing.models import User

# What is answered depends on no database.
pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (PermissionDenied(), "forbidden"),
        (exceptions.PermissionDenied(), "forbidden"),
        (exceptions.NotAuthenticated(), "forbidden"),
        (Http404(), "not_found"),
        (ObjectDoesNotExist(), "not_found"),
        (User.DoesNotExist(), "not_found"),
        (exceptions.NotFound(), "not_found"),
        (ValidationError("No."), "validation_failed"),
        (exceptions.ValidationError("No."), "validation_failed"),
        (exceptions.ParseError(), "validation_failed"),
    ],
)
def test_a_refusal_of_the_frameworks_has_its_answer(failure, code):
    answer = answer_failure(failure)
    assert answer is not None
    assert answer.code == code


class StrangeError(Exception):
    """An error of a client library that calls another service."""

    status_code = 404
    detail = "Not found."


@pytest.mark.parametrize("failure", [ValueError(), StrangeError(), exceptions.APIException()])
def test_any_other_failure_is_a_bug(failure):
    assert answer_failure(failure) is None


def problems_of(failure):
    answer = answer_failure(failure)
    assert isinstance(answer, ValidationFailedError)
    return {each.field: each.problem for each in answer.problems}


def test_djangos_problems_are_named_by_field_and_quote_nothing_that_was_sent():
    choice = ValidationError("%(value)s is no choice", "invalid_choice", {"value": "secret"})
    wrong = ValidationError({"colour": [choice], "size": ["secret"], "__all__": ["secret"]})
    told = problems_of(wrong)
    assert told == {"colour": PROBLEMS["invalid_choice"], "size": "is wrong", "?": "is wrong"}
    assert problems_of(ValidationError("secret")) == {"?": "is wrong"}


class LineSerializer(serializers.Serializer):
    amount = serializers.IntegerField(max_value=9)


class OrderSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=3)
    colour = serializers.ChoiceField(["red"])
    lines = LineSerializer(many=True)


def test_rest_frameworks_problems_are_named_by_path():
    sent = {"name": "", "colour": "secret", "lines": [{"amount": 1}, {"amount": 10}]}
    serializer = OrderSerializer(data=sent)
    with pytest.raises(exceptions.ValidationError) as refused:
        serializer.is_valid(raise_exception=True)
    assert problems_of(refused.value) == {
        "name": "must not be empty",
        "colour": "must be one of the choices",
        "lines.1.amount": "is too large",
    }
