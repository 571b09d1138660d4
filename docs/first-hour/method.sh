python3 -m venv .venv && . .venv/bin/activate && pip install -q .
truemoment evaluate examples/predictions.jsonl --annotations examples/annotations.jsonl
truemoment audit examples/predictions.jsonl --annotations examples/annotations.jsonl --html audit.html
