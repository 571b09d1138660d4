"""The boundary: what opens, writes, locks, unpacks, parses, escapes, caches, and starts processes and engines."""
