"""Questions that any domain can be asked, and who told whom."""
