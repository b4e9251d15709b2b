"""Language models that act before they answer, and their tools."""
