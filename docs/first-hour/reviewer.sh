python3 -m venv .venv && . .venv/bin/activate && pip install -q .
truemoment evaluate examples/predictions.jsonl --annotations examples/annotations.jsonl --measures "R@1,IoU=0.5"
truemoment audit examples/predictions.jsonl --annotations examples/annotations.jsonl --measures "R@1,IoU=0.5" --html review.html
