"""Official files over HTTP: their addresses, their bytes and their hashes; no stages are known here.

Open :mod:`.downloads` first: it fetches a benchmark's files and holds them against published hashes and pins.
:mod:`.sources` has the addresses (``sources.toml``), :mod:`.transfer` brings the bytes of a file and resumes,
:mod:`.archives` unpacks. Neither of these three knows another.
"""
