"""``python -m truemoment`` is ``truemoment``."""

from truemoment.cli import main

if __name__ == "__main__":
    main()
