"""The help desk's own tests, which know nothing of agents."""

from django.contrib.auth.models import Permission, User
from django.test import TestCase, TransactionTestCase
from django.test.utils import override_settings
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from helpdesk.models import Ticket

# Django's own client speaks plain HTTP to a host of its own.
plain = override_settings(SECURE_SSL_REDIRECT=False, ALLOWED_HOSTS=["testserver"])


def make_user(name: str) -> User:
    user = User.objects.create_user(name, f"{name}@support.example", "a-long-password")
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="helpdesk"))
    return user


@plain
class PageTests(TestCase):
    def test_somebody_signs_in_by_address_and_asks(self) -> None:
        user = make_user("nora")
        signed_in = {"username": "nora@support.example", "password": "a-long-password"}
        answer = self.client.post("/login/", signed_in, headers={"origin": "http://testserver"})
        self.assertRedirects(answer, "/desk/tickets/", fetch_redirect_response=False)
        self.client.post("/tickets/", {"subject": "Printer", "body": ""})
        assert Ticket.objects.get().requester == user

    def test_the_front_page_is_cached_for_everybody(self) -> None:
        assert "public" in self.client.get("/")["Cache-Control"]


@plain
class ApiTests(TestCase):
    def test_a_token_reads_its_own_tickets(self) -> None:
        nora, olga = make_user("nora"), make_user("olga")
        Ticket.objects.create(requester=olga, subject="Hers")
        own = Ticket.objects.create(requester=nora, subject="Own")
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {Token.objects.create(user=nora)}")
        answer = client.get("/api/v1/tickets/").json()
        assert [each["id"] for each in answer["results"]] == [own.pk]

    def test_a_page_of_the_company_may_call_it(self) -> None:
        answer = self.client.options(
            "/api/v1/tickets/",
            headers={"origin": "https://app.example", "access-control-request-method": "GET"},
        )
        assert answer["Access-Control-Allow-Origin"] == "https://app.example"


@plain
class FlushTests(TransactionTestCase):
    def test_a_ticket_is_closed(self) -> None:
        nora = make_user("nora")
        ticket = Ticket.objects.create(requester=nora, subject="Printer")
        client = APIClient()
        client.force_login(nora)
        answer = client.post(f"/api/v1/tickets/{ticket.pk}/close/")
        assert answer.json()["status"] == "closed"
