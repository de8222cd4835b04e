"""The books of the administration, and the pages of one person beside them."""

from invoicing.models import Company, Customer, NumberSeries, Role, Skill, TaxRate, Team, User

BOOKS = (Company, Customer, NumberSeries, Role, Skill, TaxRate, Team, User)
PERSON_PAGES = ("one-time-link", "sign-person-out")
