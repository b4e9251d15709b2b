"""What every room may know: files that appear whole, YAML, secrets kept out of what is written."""
