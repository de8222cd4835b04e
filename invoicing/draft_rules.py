"""The rules for the fields of a draft: limits, and messages that read on from a field's name.

The tools check an agent's input against them; the services check every caller's.
"""

from invoicing.fixed_point import SCALE

# Interface, Limits. Each length is the most characters of a text.
MAX_LINES = 100
NOTES_LENGTH = 5000
REFERENCE_LENGTH = 100
DESCRIPTION_LENGTH = 1000
UNIT_LENGTH = 20
# In ten-thousandths: eleven digits before the dot and four after it.
MAX_QUANTITY = 99_999_999_999 * SCALE + 9_999

CHARACTERS = "must not contain control characters"
LENGTH = "must have at most {longest} characters"
DESCRIPTION = "must not be empty"
DUE_DATE = "must not be before the issue date"
QUANTITY = "must be positive, with at most 11 digits before a dot and 4 after it, such as 1.5"
DISCOUNT_PAIR = "goes together with the discount type: send both or neither"
DISCOUNT_AMOUNT = "must not be larger than quantity times unit price"
