"""Records of stages, DVC's pins, drift and verification; it knows stages as values, never how they run."""
