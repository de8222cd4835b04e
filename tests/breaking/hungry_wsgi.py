"""Serves the product in a process that now and then has no memory left."""

from tests.breaking.hunger import watch_own_hunger

watch_own_hunger()

from config.wsgi import application  # noqa: E402, F401  the product, unchanged
