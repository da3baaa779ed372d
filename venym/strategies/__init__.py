"""Strategies: what a user writes, examples to copy, and the loader."""
