"""A folder a domain: its records, its log, its answers; it knows the core and no other domain."""
