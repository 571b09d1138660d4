"""Clip retrieval: rank all clips by a text, and all texts by a clip (MAD, Soldan et al. 2022, Table 6)."""
