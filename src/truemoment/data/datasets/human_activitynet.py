"""Human-ActivityNet: 1,288 queries of ActivityNet Captions' val_2, annotated by five workers (Hidden Challenges)."""

from truemoment.data.datasets import activitynet_captions
from truemoment.data.datasets.base import Split, source_files
from truemoment.data.datasets.reannotation import COUNTED_IN, OWNER, reannotated

DATASET = reannotated(
    "human-activitynet",
    "ActivityNet Captions",
    Split("val_2", 1_288, 1_066, COUNTED_IN),
    source_files(
        f"{OWNER}/activitynet/re-annotated",
        ("test_00.csv", "8cd2f8131de705758c8625c4801294eb3ea7e8d091f959acf7030eb60a552b8c", 0),
        ("test_01.csv", "a0391d99885d250810363e86f7b13e60a7593ee5c5e25b17f041577eac7ae301", 0),
        ("test_02.csv", "755ca2945ea421c449f2adbbdb7b3f356df6d347a1d344e1e395a725739da26d", 0),
        ("test_03.csv", "d1e2b6d4901f89d0aae8c11e5154b06601a3115e10594ad9cbb70fa3a26e4ab9", 0),
        ("test_04.csv", "3c6ae77474847ad16157bfbf684e75b469f4e5438f48c695f57a68afdcc949f7", 0),
    ),
    read_original=activitynet_captions.read,
    video_id_of=lambda video_id: f"v_{video_id}",
)
