"""Studies: a folder a question, with its maths and its report."""
