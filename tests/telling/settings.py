"""The service's settings, with push services on this machine and the subject of the tests."""

from agent_access.waiting import subjects
from config.settings import *  # noqa: F403  all of them
from config.settings import AGENT_ACCESS
from tests.telling.questions import Riddles

AGENT_ACCESS["REACHES_LOOPBACK"] = True
subjects["riddle"] = Riddles()
