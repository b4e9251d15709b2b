"""A project's folders under one profile: where it lies, its data by name, its tables."""
