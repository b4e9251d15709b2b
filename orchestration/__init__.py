"""The platform: it runs the science as stages, and shows and pins their results."""
