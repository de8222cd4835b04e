"""The servers of others that the service calls: they must be there before it starts."""

from pathlib import Path
from random import Random

import trustme

from tests.breaking.drivers.diary import Diary
from tests.breaking.drivers.mail import MailServer
from tests.breaking.drivers.mailbox import Mailbox
from tests.breaking.drivers.moods import Moods
from tests.breaking.drivers.push import PushServer
from tests.telling.push_service import WEB_PUSH_KEY

HIGH_LIMIT = "1000000"


class Outside:
    """A push service and a mail server, with the settings by which the service finds them."""

    def __init__(self, folder: Path, chance: Random) -> None:
        self.diary = Diary(folder / "outside.diary")
        self.mailbox = Mailbox(self.diary)
        self.moods = Moods(chance)
        authority = trustme.CA()
        self._trusted = folder / "push-authority.pem"
        authority.cert_pem.write_to_path(self._trusted)
        self.push = PushServer(authority, self.mailbox, self.moods)
        self.mail = MailServer(self.mailbox, self.moods)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "WEB_PUSH_KEY": WEB_PUSH_KEY,
            "SSL_CERT_FILE": str(self._trusted),
            "EMAIL_URL": f"smtp://127.0.0.1:{self.mail.port}",
            "EMAIL_FROM": "Invoices <invoices@company.example>",
            "LIMIT_TOKEN": HIGH_LIMIT,
            "LIMIT_REGISTER": HIGH_LIMIT,
        }

    def close(self) -> None:
        self.push.close()
        self.mail.close()
        self.diary.close()
