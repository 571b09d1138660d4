"""Pages in a browser: their server, browsing answers, and marking moments."""
