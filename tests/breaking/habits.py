"""How often clients do what: a share of the times at which they could."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Habits:
    # First attempts and retries whose connection the client cuts, and retries sent twice at once.
    cut_first: float = 0.7
    cut_again: float = 0.05
    doubled: float = 1 / 3
    # Answered calls that are sent once more, since an answer may be lost behind the client's back.
    repeated: float = 0.1
    # A draft is changed once, and perhaps again.
    updated: float = 0.8
    # Where a round leaves the straight way from the draft to the issued invoice.
    executed_early: float = 0.1
    rejected: float = 0.05
    changed_after_approval: float = 0.15
    rivalled: float = 0.15
    executed_again: float = 0.05
    # An issued invoice is corrected once, and perhaps again; half of these twice at once.
    corrected: float = 0.15
