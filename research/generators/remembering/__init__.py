"""Episodes to remember, made of a TBox: what is told, ended and forgotten, and what is then known."""
