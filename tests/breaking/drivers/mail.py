"""A mail server (RFC 5321) on this machine, as far as one needs it, in changing moods."""

import socket
import threading
import time
from contextlib import suppress
from email import message_from_bytes, policy
from io import BufferedRWPair

from tests.breaking.drivers.mailbox import MAIL, Mailbox
from tests.breaking.drivers.moods import Mood, Moods

HANGING_SECONDS = 8
LINE_BYTES = 64 * 1024


class MailServer:
    """Takes mails, or says that it does not; a mail that it took has been delivered."""

    def __init__(self, mailbox: Mailbox, moods: Moods) -> None:
        self._mailbox, self._moods = mailbox, moods
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                stream, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[stream], daemon=True).start()

    def _serve(self, stream: socket.socket) -> None:
        stream.settimeout(HANGING_SECONDS * 4)
        mood = self._moods.choose()
        with suppress(OSError), stream, stream.makefile("rwb") as lines:
            if mood == Mood.HANGS:
                time.sleep(HANGING_SECONDS)
                return
            _say(lines, "220 mail.example")
            while line := lines.readline(LINE_BYTES):
                word = line.strip().upper()[:4]
                if word == b"DATA":
                    self._take(lines, mood)
                    if mood == Mood.DROPS:
                        return
                elif word == b"QUIT":
                    _say(lines, "221 Bye")
                    return
                else:
                    is_busy = mood == Mood.BUSY and word == b"RCPT"
                    _say(lines, "450 Busy" if is_busy else "250 OK")

    def _take(self, lines: BufferedRWPair, mood: Mood) -> None:
        begun = time.monotonic()
        _say(lines, "354 Go on")
        content = b""
        while (line := lines.readline(LINE_BYTES)) != b".\r\n":
            if not line:
                raise ConnectionError
            content += line
        mail = message_from_bytes(content, policy=policy.default)
        body = mail.get_content()
        text = f"{mail['Subject']}\n{body}"
        self._mailbox.take(MAIL, text, mood, message_id=mail["Message-ID"], to=mail["To"])
        if mood == Mood.LIES:
            _say(lines, "451 Try again later")
        elif mood != Mood.DROPS:
            _say(lines, "250 Delivered")
            self._mailbox.confirm(MAIL, text, seconds=time.monotonic() - begun)


def _say(lines: BufferedRWPair, line: str) -> None:
    lines.write(f"{line}\r\n".encode())
    lines.flush()
