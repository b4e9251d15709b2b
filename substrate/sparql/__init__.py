"""The tokens of SPARQL and Turtle, and the guard of strangers' queries."""
