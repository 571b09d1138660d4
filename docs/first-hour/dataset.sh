python3 -m venv .venv && . .venv/bin/activate && pip install -q .
truemoment datasets check examples/annotations.jsonl
truemoment resplit --annotations examples/annotations.jsonl -o anew
truemoment baseline sentence-network --dataset anew --split test-ood --measures "R@1,IoU=0.5; mIoU"
