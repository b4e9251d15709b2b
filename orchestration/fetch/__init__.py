"""Official files over HTTP: addresses and hashes, but no stages."""
