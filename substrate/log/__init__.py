"""The event log: its deltas, chain, text and file, the state at a tick, and the history of a triple."""
