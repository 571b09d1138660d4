"""The ground: records of queries and answers, intervals of time, errors, papers; the boundary to everything outside."""
