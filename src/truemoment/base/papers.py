"""The papers of datasets, measures, protocols and baselines: each is a constant here, and those name it.

``truemoment cite`` prints them. To add one, write a constant with the facts of its first page or of its publisher.
Authors, titles and years were compared with the papers themselves, with the reference lists of the five papers that
TrueMoment follows, and with the entries that the authors' repositories ask for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from truemoment.base.version import __version__


@dataclass(frozen=True)
class Paper:
    """A publication, or software.

    Parameters
    ----------
    key
        BibTeX key: family name of the first author, year, a word of the title.
    authors
        Names as ``Family, Given``; without a comma, the name of a group.
    title
        Title in the capitals of the paper.
    venue
        Conference or journal; empty for software.
    year
        Year of publication; None if there is none.
    kind
        Type of the BibTeX entry.
    details
        Further fields of the entry: ``doi``, ``volume``, ``version`` ...

    Examples
    --------
    >>> paper = Paper("doe2020doors", ("Doe, Jane", "Roe, Ann"), "Doors", "ICCV", 2020)
    >>> paper.text()
    'Jane Doe and Ann Roe. Doors. ICCV, 2020.'
    >>> print(paper.bibtex())
    @inproceedings{doe2020doors,
      author    = {Doe, Jane and Roe, Ann},
      title     = {{Doors}},
      booktitle = {ICCV},
      year      = {2020}
    }
    """

    key: str
    authors: tuple[str, ...]
    title: str
    venue: str
    year: int | None
    kind: Literal["inproceedings", "article", "misc"] = "inproceedings"
    details: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """Return authors, title, venue and year in one line."""
        names = [" ".join(reversed(name.split(", "))) for name in self.authors]
        authors = " and ".join(name for name in (", ".join(names[:-1]), names[-1]) if name)
        details = dict(self.details)
        numbers = details.get("volume", "") + (f"({details['number']})" if "number" in details else "")
        place = " ".join(part for part in (self.venue, numbers) if part)
        year = "" if self.year is None else str(self.year)
        version = f"Version {details['version']}" if "version" in details else ""
        parts = [authors, self.title, ", ".join(part for part in (place, version, year) if part)]
        text = ". ".join(parts) + "."
        return f"{text} doi:{details['doi']}" if "doi" in details else text

    def bibtex(self) -> str:
        """Return the entry of a BibTeX file, UTF-8; braces keep the capitals of the title."""
        venue = {"inproceedings": "booktitle", "article": "journal", "misc": "howpublished"}[self.kind]
        authors = " and ".join(name if ", " in name else f"{{{name}}}" for name in self.authors)
        year = "" if self.year is None else str(self.year)
        fields = [("author", authors), ("title", f"{{{self.title}}}"), (venue, self.venue), ("year", year)]
        entries = [(name, value) for name, value in (*fields, *self.details) if value]
        width = max(len(name) for name, _ in entries)
        lines = ",\n".join(f"  {name:<{width}} = {{{value}}}" for name, value in entries)
        return f"@{self.kind}{{{self.key},\n{lines}\n}}"


TRUEMOMENT = Paper(
    "truemoment",
    ("The TrueMoment authors",),
    "TrueMoment: honest measures for temporal sentence grounding in videos",
    "",
    None,
    "misc",
    (("version", __version__),),
)
CLOSER_LOOK = Paper(
    "yuan2021closer",
    ("Yuan, Yitian", "Lan, Xiaohan", "Wang, Xin", "Chen, Long", "Wang, Zhi", "Zhu, Wenwu"),
    "A Closer Look at Temporal Sentence Grounding in Videos: Dataset and Metric",
    "Proceedings of the 2nd International Workshop on Human-centric Multimedia Analysis (HUMA)",
    2021,
    details=(("doi", "10.1145/3475723.3484247"),),
)
AXIOU = Paper(
    "togashi2022axiou",
    ("Togashi, Riku", "Otani, Mayu", "Nakashima, Yuta", "Rahtu, Esa", "Heikkilä, Janne", "Sakai, Tetsuya"),
    "AxIoU: An Axiomatically Justified Measure for Video Moment Retrieval",
    "CVPR",
    2022,
)
HIDDEN_CHALLENGES = Paper(
    "otani2020uncovering",
    ("Otani, Mayu", "Nakashima, Yuta", "Rahtu, Esa", "Heikkilä, Janne"),
    "Uncovering Hidden Challenges in Query-Based Video Moment Retrieval",
    "BMVC",
    2020,
)
MAD = Paper(
    "soldan2022mad",
    (
        "Soldan, Mattia",
        "Pardo, Alejandro",
        "León Alcázar, Juan",
        "Caba Heilbron, Fabian",
        "Zhao, Chen",
        "Giancola, Silvio",
        "Ghanem, Bernard",
    ),
    "MAD: A Scalable Dataset for Language Grounding in Videos from Movie Audio Descriptions",
    "CVPR",
    2022,
)
QVHIGHLIGHTS = Paper(
    "lei2021qvhighlights",
    ("Lei, Jie", "Berg, Tamara L.", "Bansal, Mohit"),
    "QVHighlights: Detecting Moments and Highlights in Videos via Natural Language Queries",
    "NeurIPS",
    2021,
)
TALL = Paper(
    "gao2017tall",
    ("Gao, Jiyang", "Sun, Chen", "Yang, Zhenheng", "Nevatia, Ram"),
    "TALL: Temporal Activity Localization via Language Query",
    "ICCV",
    2017,
)
CHARADES = Paper(
    "sigurdsson2016hollywood",
    ("Sigurdsson, Gunnar A.", "Varol, Gül", "Wang, Xiaolong", "Farhadi, Ali", "Laptev, Ivan", "Gupta, Abhinav"),
    "Hollywood in Homes: Crowdsourcing Data Collection for Activity Understanding",
    "ECCV",
    2016,
)
ACTIVITYNET_CAPTIONS = Paper(
    "krishna2017dense",
    ("Krishna, Ranjay", "Hata, Kenji", "Ren, Frederic", "Fei-Fei, Li", "Niebles, Juan Carlos"),
    "Dense-Captioning Events in Videos",
    "ICCV",
    2017,
)
ACTIVITYNET = Paper(
    "cabaheilbron2015activitynet",
    ("Caba Heilbron, Fabian", "Escorcia, Victor", "Ghanem, Bernard", "Niebles, Juan Carlos"),
    "ActivityNet: A Large-Scale Video Benchmark for Human Activity Understanding",
    "CVPR",
    2015,
)
DIDEMO = Paper(
    "hendricks2017localizing",
    ("Hendricks, Lisa Anne", "Wang, Oliver", "Shechtman, Eli", "Sivic, Josef", "Darrell, Trevor", "Russell, Bryan"),
    "Localizing Moments in Video with Natural Language",
    "ICCV",
    2017,
)
TACOS = Paper(
    "regneri2013grounding",
    (
        "Regneri, Michaela",
        "Rohrbach, Marcus",
        "Wetzel, Dominikus",
        "Thater, Stefan",
        "Schiele, Bernt",
        "Pinkal, Manfred",
    ),
    "Grounding Action Descriptions in Videos",
    "Transactions of the Association for Computational Linguistics",
    2013,
    "article",
    (("volume", "1"), ("pages", "25--36")),
)
TAN_2D = Paper(
    "zhang2020learning",
    ("Zhang, Songyang", "Peng, Houwen", "Fu, Jianlong", "Luo, Jiebo"),
    "Learning 2D Temporal Adjacent Networks for Moment Localization with Natural Language",
    "AAAI",
    2020,
)
MOVIE_DESCRIPTION = Paper(
    "rohrbach2017movie",
    (
        "Rohrbach, Anna",
        "Torabi, Atousa",
        "Rohrbach, Marcus",
        "Tandon, Niket",
        "Pal, Christopher",
        "Larochelle, Hugo",
        "Courville, Aaron",
        "Schiele, Bernt",
    ),
    "Movie Description",
    "International Journal of Computer Vision",
    2017,
    "article",
    (("volume", "123"), ("number", "1"), ("pages", "94--120")),
)
UNTRUTH = Paper(
    "flanagan2025moment",
    ("Flanagan, Kevin", "Damen, Dima", "Wray, Michael"),
    "Moment of Untruth: Dealing with Negative Queries in Video Moment Retrieval",
    "arXiv:2502.08544",
    2025,
    "misc",
)
VSLNET = Paper(
    "zhang2020span",
    ("Zhang, Hao", "Sun, Aixin", "Jing, Wei", "Zhou, Joey Tianyi"),
    "Span-based Localizing Network for Natural Language Video Localization",
    "ACL",
    2020,
)
NEXT_GQA = Paper(
    "xiao2024can",
    ("Xiao, Junbin", "Yao, Angela", "Li, Yicong", "Chua, Tat-Seng"),
    "Can I Trust Your Answer? Visually Grounded Video Question Answering",
    "CVPR",
    2024,
    details=(("pages", "13204--13214"),),
)
ET_BENCH = Paper(
    "liu2024etbench",
    ("Liu, Ye", "Ma, Zongyang", "Qi, Zhongang", "Wu, Yang", "Chen, Chang Wen", "Shan, Ying"),
    "E.T. Bench: Towards Open-Ended Event-Level Video-Language Understanding",
    "NeurIPS",
    2024,
)
MOMENTSEEKER = Paper(
    "yuan2025momentseeker",
    (
        "Yuan, Huaying",
        "Ni, Jian",
        "Wang, Yueze",
        "Zhou, Junjie",
        "Liang, Zhengyang",
        "Liu, Zheng",
        "Cao, Zhao",
        "Dou, Zhicheng",
        "Wen, Ji-Rong",
    ),
    "MomentSeeker: A Comprehensive Benchmark and A Strong Baseline For Moment Retrieval Within Long Videos",
    "arXiv:2502.12558",
    2025,
    "misc",
)
QV_M2 = Paper(
    "cao2025flashmmr",
    ("Cao, Zhuo", "Du, Heming", "Zhang, Bingqing", "Yu, Xin", "Li, Xue", "Wang, Sen"),
    "When One Moment Isn't Enough: Multi-Moment Retrieval with Cross-Moment Interactions",
    "NeurIPS",
    2025,
)
VIDI = Paper(
    "vidi2025vidi",
    ("Vidi Team",),
    "Vidi: Large Multimodal Models for Video Understanding and Editing",
    "arXiv:2504.15681",
    2025,
    "misc",
)
