"""What ends a quickstart before it has begun."""


class QuickstartError(Exception):
    """The quickstart cannot go on; the message is a sentence for the person who began it."""
