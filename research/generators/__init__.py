"""Generated data beyond the paper's: inexact, retold, altered, fitted, and memories of agents."""
