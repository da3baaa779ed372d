"""The control plane: plain Python on housekeeping cores."""
