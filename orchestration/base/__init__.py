"""What every room may know: YAML, and secrets kept out of what is written."""
