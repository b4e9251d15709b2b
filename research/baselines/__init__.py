"""Language models that act before they answer, and the tools that they have."""
