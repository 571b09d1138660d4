"""A paper's table of methods, trained by recipes on the same data, beside baselines that see no video."""
