"""The books of the administration, and the pages of one person beside them."""

from invoicing.models import (
    Company,
    Customer,
    DatevSettings,
    NumberSeries,
    Role,
    Skill,
    TaxRate,
    Team,
    User,
)

BOOKS = (Company, Customer, DatevSettings, NumberSeries, Role, Skill, TaxRate, Team, User)
# Of each there is one record, to which its list leads.
SINGLE = (Company, DatevSettings)
# What only the owner opens.
OWNERS_PAGES = ("transfer-ownership", "export-evidence", "evidence-verifier", "passkey-rule")
PERSON_PAGES = ("one-time-link", "passkey-link", "sign-person-out")
