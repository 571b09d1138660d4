"""Base: records of queries and answers, intervals of time, errors and papers; the boundary to files and processes."""
