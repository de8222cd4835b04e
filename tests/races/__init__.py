"""Every act that writes beside every other: as if one had followed the other.

The matrix is made from the rows of `acts/`: each names what it touches, and two that touch the same
thing are a pair, each with itself too. `interleaving.py` holds the first act of a pair before each
statement that meets the second one's, and the second does all that it can meanwhile. What both
answered and what is stored then has to be what one order or the other leaves. `history.py` lets
many acts run freely, and checks what they were told. `python -m tests.races` runs all of it.
"""
