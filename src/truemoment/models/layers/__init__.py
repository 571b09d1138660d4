"""Parts that models share, each in a file by its name."""
