"""A person's first minute with the service, on one machine."""
