"""A project's folders under a profile: their places, the data by name, the tables."""
