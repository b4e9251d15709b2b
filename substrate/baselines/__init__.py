"""What a language model is asked and how its reply is read; it knows formats and logs only."""
