"""What an operator is told of a database that cannot be used, instead of a trace."""

from django.db import DatabaseError, DataError, IntegrityError, ProgrammingError, connection

from agent_access.database.schema import lacks_migrations

NOT_MIGRATED = "The database {name} is not up to date: run manage.py migrate first."
NOT_ALLOWED = (
    "The database role {role} may not do this ({reason}): in DATABASE_URL, migrations need the role"
    " that owns the tables."
)
NO_FILE = (
    "The database file {name} cannot be opened or written: in DATABASE_URL, name a file in a folder"
    " that is there, and let this account write both."
)
NOT_THERE = "The database {name} cannot be used ({reason}): see DATABASE_URL."

INSUFFICIENT_PRIVILEGE = "42501"
# An undefined table, an undefined column: of PostgreSQL, then of SQLite.
UNDEFINED = ("42P01", "42703")
UNDEFINED_WORDS = ("no such table", "no such column")
FILE_WORDS = ("unable to open database file", "attempt to write a readonly database")


def explain(error: Exception, *, is_migrating: bool = False) -> str | None:
    """Return the sentence, or None for what no operator can repair: a mistake of ours.

    In a migration itself a table that is missing is none that another migrate would make.
    """
    if isinstance(error, DataError | IntegrityError):
        return None
    driver_error = _driver_error(error)
    state = getattr(driver_error, "sqlstate", None)
    told = {
        "name": connection.settings_dict["NAME"],
        "role": connection.settings_dict["USER"] or "in use",
        # Further lines quote what was sent.
        "reason": str(driver_error).partition("\n")[0].rstrip(".: "),
    }
    if state == INSUFFICIENT_PRIVILEGE:
        return NOT_ALLOWED.format(**told)
    if state in UNDEFINED or str(error).startswith(UNDEFINED_WORDS):
        return None if is_migrating or not _is_out_of_date() else NOT_MIGRATED.format(**told)
    if isinstance(error, ProgrammingError):
        return None
    is_file = any(words in told["reason"] for words in FILE_WORDS)
    return (NO_FILE if is_file else NOT_THERE).format(**told)


def _driver_error(error: BaseException) -> BaseException:
    """Return psycopg's error, which Django's own about its table of migrations hides."""
    cause: BaseException | None = error
    while cause is not None and not hasattr(cause, "sqlstate"):
        cause = cause.__cause__ or cause.__context__
    return cause or error


def _is_out_of_date() -> bool:
    try:
        return lacks_migrations()
    except DatabaseError:
        return False
