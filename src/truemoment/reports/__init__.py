"""What people and programs read: tables for the terminal, Markdown and LaTeX, and JSON documents."""
