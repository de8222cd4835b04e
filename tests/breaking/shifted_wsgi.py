"""Serves the product on a machine whose clock jumps."""

from tests.breaking.clocks import follow_own_clock

follow_own_clock()

from config.wsgi import application  # noqa: E402, F401  whatever it imports has this clock
