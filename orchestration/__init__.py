"""The platform: it runs the science as stages, and shows and pins what comes out."""
