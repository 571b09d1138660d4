python3 -m venv .venv && . .venv/bin/activate && pip install -q '.[search]'
truemoment demo --search --minutes 1 --no-open --out searched
truemoment index searched/film.mp4 --model scenes -o film.index
truemoment search "a small orange star" film.index --clips found
