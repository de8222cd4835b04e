"""Halden Works, a made-up company for a first look and for load tests."""
