python3 -m venv .venv && . .venv/bin/activate && pip install -q '.[models]'
truemoment demo --videos 400 --no-open
truemoment train tan2d --annotations truemoment-demo/annotations.jsonl --features truemoment-demo/features.npz \
    --set train.epochs=1 -o runs/tan2d
truemoment audit runs/tan2d/test-ood.jsonl --annotations truemoment-demo/annotations.jsonl --split test-ood \
    --model runs/tan2d --html student.html
