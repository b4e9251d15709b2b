"""The platform: it runs the science as stages, and shows and pins their results."""

import gc

# Most objects live as long as the process; walking them anew and anew took a fifth of a driver's time.
gc.set_threshold(10_000, 50, 20)
