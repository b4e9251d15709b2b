"""A declaration for each benchmark beyond the paper."""
