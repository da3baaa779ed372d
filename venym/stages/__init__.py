"""The stages of the pipeline, one file each, and what they own."""
