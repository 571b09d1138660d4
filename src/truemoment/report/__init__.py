"""Reports: sections, tables, findings and figures, and the renderers that show them. It depends on no study."""
