"""The client of language models and their transcripts; it uses the network, but no benchmark."""
