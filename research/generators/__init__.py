"""Generated data beyond the paper's: inexact, retold, altered and fitted data, and a detector's proposals."""
