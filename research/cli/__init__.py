"""The commands beyond the paper's; the command trees find them by name."""
