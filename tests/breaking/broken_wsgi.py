"""Serves the build that is broken on purpose in the way that BROKEN_BUILD names."""

import os

import django

from tests.breaking.builds import VARIABLE, Build

django.setup(set_prefix=False)

from tests.breaking.broken_builds import break_product  # noqa: E402  it imports models

break_product(Build(os.environ[VARIABLE]))

from config.wsgi import application  # noqa: E402, F401  the product, changed by now
