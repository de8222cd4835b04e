"""The SQL functions with which a subquery returns many rows as one JSON value."""

# By vendor: those that make an array of rows, and an object of one row.
JSON_FUNCTIONS = {
    "postgresql": {"many": "json_agg", "one": "json_build_object"},
    "sqlite": {"many": "json_group_array", "one": "json_object"},
}
