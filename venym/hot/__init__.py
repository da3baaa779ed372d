"""numba's awkwardness in one place: decorators, compile cache, layouts, intrinsics, links, loops, memory, histograms.

No trading words in here. Everything else in venym reads as ordinary code because of what stands in this folder.
"""
