"""Request of a leaderboard."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from truemoment.base.request import AnyFile, Running, argument, option
from truemoment.studies.request import NoCache, Testing, data_dir, no_cache, path_of


@dataclass(frozen=True)
class LeaderboardRequest(NoCache, Testing, Running):
    """The folder with ``leaderboard.yaml`` and the prediction files, and the settings."""

    folder: AnyFile = argument(metavar="DIR")
    _: KW_ONLY
    data_dir: AnyFile | None = data_dir()
    gate: str | None = option(
        "Exit 1 unless every system that sees the video passes; as in 'truemoment audit'.", metavar="'A; B'"
    )
    no_cache: bool = no_cache()

    def inputs(self) -> list[Path]:
        """Return the files that leaderboard.yaml names."""
        from truemoment.studies.leaderboard.entries import read_entries

        return read_entries(Path(self.folder), path_of(self.data_dir)).inputs()
