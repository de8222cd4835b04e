"""Why a connection ended, as the database has it now."""

from agent_access.models import Connection


def reason_of(connection: Connection) -> str:
    connection.refresh_from_db()
    return connection.revoked_reason
