"""What works beside the agents of `./dev break`: one module for each driver, and for its columns.

A driver does what a person, a program or an operator does, writes down what it was told (`diary`),
and says afterwards what must not be: found in its own diary, in the database as it stands at the
end, and in the files that the service gave away.
"""
