"""The urls of projects that include those of agents in ways of their own."""
