"""What prevents a quickstart."""


class QuickstartError(Exception):
    """The quickstart cannot go on; its message is shown to the person who started it."""
