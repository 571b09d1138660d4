"""From films with audio description to grounded sentences, as MAD was made (Soldan et al. 2022, section 3)."""
