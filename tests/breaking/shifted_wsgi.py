"""Serves the product, or a build that is broken on purpose, where the clock jumps."""

import os
from importlib import import_module

from tests.breaking.builds import VARIABLE, Build
from tests.breaking.clocks import follow_own_clock

# First, so that whatever is imported has this clock.
follow_own_clock()

_module, _, _name = Build(os.environ[VARIABLE]).application.partition(":")
application = getattr(import_module(_module), _name)
