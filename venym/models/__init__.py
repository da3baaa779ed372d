"""Models: readers from files to flat arrays, and the jitted prediction over those arrays.

    NAME.model.json ──load──▶ Model(words, values, predict, ...) ──▶ the inference stage

`load.load` opens an artifact, `model` says what a model is in memory, `trees` and `linear` predict, `lightgbm` reads
LightGBM's text. Nothing here needs the library that trained the model.
"""
