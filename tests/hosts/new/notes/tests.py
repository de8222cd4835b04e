"""The project's own tests of what agents may do."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from agent_access.testing import AgentClient, TransactionTestCase

from .models import Note


class AgentTests(TransactionTestCase):
    def setUp(self) -> None:
        users = get_user_model().objects
        users.create_superuser("olga", password="a-long-password-for-tests")
        self.nora = users.create_user("nora")
        self.nora.user_permissions.set(Permission.objects.filter(content_type__app_label="notes"))
        self.agent = AgentClient(self.nora, "notes:write")

    def test_an_agent_writes_a_note_once(self) -> None:
        for _ in range(2):
            answer = self.agent.call("notes.write", {"text": "Milk"}, key="the-same")
            assert answer.status_code == 201
        assert [note.text for note in Note.objects.filter(owner=self.nora)] == ["Milk"]

    def test_an_agent_reads_nothing_without_the_scope(self) -> None:
        assert self.agent.call("notes.list").status_code == 403
        assert self.agent.call_mcp("notes.list").json()["result"]["isError"]
