"""Windows of time in which Django's cache counts events."""

import time
import zlib
from hashlib import sha256

from django.core.cache import cache

# A process whose clock is behind still counts in a window that has ended for the others.
GRACE_SECONDS = 5


def count(group: str, bucket: str, *, seconds: int, step: int = 1) -> tuple[int, int]:
    """Count `step` more; return the count in the current window, and the seconds until it ends.

    A bucket's windows end at the same times in every group, and those of most buckets at different
    times. Raises what a failed cache raises, and ValueError if it has just dropped the count.
    """
    now = int(time.time())
    left = seconds - (now + zlib.crc32(bucket.encode())) % seconds
    key = f"count:{sha256(f'{group} {bucket} {now + left}'.encode()).hexdigest()}"
    if cache.add(key, step, left + GRACE_SECONDS):
        return step, left
    return cache.incr(key, step), left
