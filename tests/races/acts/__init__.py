"""The rows of the matrix, by who acts: each module fills the table when it is imported."""

from tests.races.acts import administration, agents, clients, notices, passkeys, people

__all__ = ["administration", "agents", "clients", "notices", "passkeys", "people"]
