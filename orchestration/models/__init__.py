"""The client of language models and their transcripts; it knows the network, and no benchmark."""
