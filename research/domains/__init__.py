"""Records and answers beyond the paper's five domains."""
