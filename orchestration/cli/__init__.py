"""The commands, a module for each group; no other room imports them."""
