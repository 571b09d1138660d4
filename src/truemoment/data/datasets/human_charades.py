"""Human-Charades: 1,000 queries of Charades-STA's test split, annotated by five workers each (Hidden Challenges)."""

from truemoment.data.datasets import charades_sta
from truemoment.data.datasets.base import Split, source_files
from truemoment.data.datasets.reannotation import COUNTED_IN, OWNER, reannotated

DATASET = reannotated(
    "human-charades",
    "Charades-STA",
    Split("test", 1_000, 723, COUNTED_IN),
    source_files(
        f"{OWNER}/charades/re-annotated",
        ("test_00.csv", "710f5f9eff72542465a81f82c5541243fd9a29f054adf8aaa664665181eabf22", 121_518),
        ("test_01.csv", "d1bf0dcf67d5c7334ec686893fb2ea7e5f4072c5204d817fafd9d805e016e8cc", 121_572),
        ("test_02.csv", "be8d5ef7bb417d24d1962033340ac9386377abd855b8bb5cc74669342d2f95f0", 161_790),
    ),
    read_original=charades_sta.read,
    video_id_of=lambda video_id: video_id.removesuffix(".mp4"),
)
