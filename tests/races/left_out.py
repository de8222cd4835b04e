"""What writes and is no act of the matrix, each with the reason."""

LEFT_OUT: dict[str, str] = {}
