"""The commands, a module for each group; nothing imports them."""
