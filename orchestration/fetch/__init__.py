"""Official files over HTTP; it knows addresses and hashes, and no stage."""
