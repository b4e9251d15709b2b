"""Language models that act before they answer, or only read; trivial methods that take a shortcut."""
