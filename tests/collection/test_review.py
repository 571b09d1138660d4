"""Review by people: the sample, its size, the page, the answers, the estimates and the card."""

import json
import re
import shutil
import zlib

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.collection.estimates import estimates_of, kappa, weighted_quantile
from truemoment.collection.layout import StoredSentence, films_in
from truemoment.collection.review_answers import AnsweredSentence, ReviewAnswer
from truemoment.collection.review_sample import draw_sample, sample_size


def add_films(out, counts):
    """Add films to a collection that have the first sentences of its film, and other names."""
    (film,) = films_in(out)
    lines = [of for of in film.sentences() if of.kept]
    for name, count in counts.items():
        folder = shutil.copytree(film.folder.path, out / "films" / f"{name}-{zlib.crc32(name.encode()):08x}")
        kept = [msgspec.structs.replace(of, id=f"{name}#{k}") for k, of in enumerate(lines[:count])]
        (folder / "sentences.jsonl").write_bytes(b"".join(msgspec.json.encode(of) + b"\n" for of in kept))
        report = msgspec.structs.replace(film.report, name=name, n_kept=count)
        (folder / "report.json").write_bytes(msgspec.json.encode(report))
        about = msgspec.structs.replace(film.about(), name=name)
        (folder / "about.json").write_bytes(msgspec.json.encode(about))
    return out


@pytest.fixture
def three(collected, tmp_path):
    """A collection of three films; the two added ones have four and two sentences."""
    return add_films(shutil.copytree(collected, tmp_path / "three"), {"second": 4, "third": 2})


def test_sample_size_is_that_of_the_specification():
    """Issue 23, specification section 10: p = 0.05, w = 0.02: 457 (m = 1), 640 at m = 5, rho = 0.1."""
    assert (sample_size(), sample_size(5)) == (457, 640)


@pytest.mark.parametrize(("n", "most"), [(3, 8), (400, 2), (400, 1), (400, 100)])
def test_the_sample_has_at_most_so_many_sentences_a_film(three, n, most):
    drawn = draw_sample(three, n, most_per_film=most, seed=1)
    there = {film.report.name: film.report.n_kept for film in films_in(three)}
    counts = {name: sum(of.film == name for of in drawn.sentences) for name in there}
    assert len(drawn.sentences) == min(n, sum(min(most, count) for count in there.values()))
    assert max(counts.values()) <= most
    assert len({of.id for of in drawn.sentences}) == len(drawn.sentences)
    assert drawn.full == tuple(name for name in there if counts[name] == most < there[name])
    assert drawn == draw_sample(three, n, most_per_film=most, seed=1)


def test_films_are_drawn_in_proportion_to_their_sentences(three):
    """One sentence of the collection is of a film as often as the film has its share of the sentences."""
    there = {film.report.name: film.report.n_kept for film in films_in(three)}
    drawn = [draw_sample(three, 1, seed=seed).films[0] for seed in range(200)]
    share = there["second"] / sum(there.values())
    sd = (share * (1 - share) / 200) ** 0.5
    assert abs(drawn.count("second") / 200 - share) < 4 * sd


def test_times_on_the_track_are_those_of_the_simulation(collected, described):
    """film_s = rate x track_s + delay_s; the truth has the delay, which is found to 20 ms."""
    for of in draw_sample(collected).sentences:
        assert of.rate == pytest.approx(described.pieces[0].rate, abs=1e-4)
        assert of.delay_s == pytest.approx(described.pieces[0].delay_s, abs=0.02)


def test_the_page_is_offline_and_has_every_sentence(three, tmp_path, call):
    page = tmp_path / "review.html"
    status, printed, _ = call("collect", "review", three, "--html", page, "--most-per-film", "2")
    assert status == 0
    assert "457" in printed
    text = page.read_text()
    assert "default-src 'none'" in text
    assert not re.search(r"(src|href)=\"(?!data:)|https?://|fetch\(|XMLHttpRequest", text)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    drawn = draw_sample(three, most_per_film=2)
    assert [of["id"] for of in data] == [of.id for of in drawn.sentences]
    assert all(of.sentence in text for of in drawn.sentences)
    assert text.count("<article") == len(data) == 6  # two of each film
    document = json.loads(call("collect", "review", three, "--html", page, "--json", "-", "--quiet")[1])
    assert document["schema"] == "truemoment/collection-review-sample/1"
    assert not any(of.sentence in json.dumps(document) for of in drawn.sentences)


def answered(film, k, **changes):
    """A sentence from 10 to 14 s with one answer: description, right words, changed as given."""
    sentence = StoredSentence(
        id=f"{film}#{k}", sentence="A door opens.", sentence_someone="A door opens.", heard="a door opens",
        word_s=(10, 14), film_s=(10, 14), kept=True, dropped_by="", verdicts=(),
    )  # fmt: skip
    answer = ReviewAnswer(id=sentence.id, film_s=(10, 14), reviewer="ann", kind="description", words="right")
    return AnsweredSentence(film, sentence, (msgspec.structs.replace(answer, **changes),))


def values(review):
    return {(of.name, of.statistic): of.value for of in review.figures}


def test_estimates_by_hand():
    """Four sentences whose shares and errors are counted by hand."""
    review = estimates_of(
        [
            answered("a", 0, kind="dialogue", words="wrong", said_s=(0, 1)),
            answered("a", 1, said_s=(10.5, 14), seen_s=(10, 14)),
            answered("b", 0, said_s=(10.1, 14.4), not_seen=True),
            answered("b", 1, words="slightly wrong", said_s=(10, 14), seen_s=(12, 16)),
        ],
        n_kept=40,
    )
    found = values(review)
    assert found["dialogue", "share"] == found["wrong words", "share"] == 0.25
    assert found["slightly wrong words", "share"] == 0.25
    assert found["not in the picture", "share"] == pytest.approx(1 / 3)
    assert found["collected and said, start", "median"] == pytest.approx(0.1)  # of 0, 0.1 and 0.5; not of dialogue
    assert found["collected and said, start", "90th percentile"] == pytest.approx(0.5)
    assert found["collected and said, end", "90th percentile"] == pytest.approx(0.4)
    assert found["collected and seen, start", "90th percentile"] == pytest.approx(2.0)
    # 3.5 s of 4 s, and 2 s (12 to 14) of 6 s (10 to 16)
    assert found["IoU of said and seen", "mean"] == pytest.approx((3.5 / 4 + 2 / 6) / 2)
    share = next(of for of in review.figures if of.name == "dialogue")
    assert share.ci95 == (0.0, 0.5)  # resamples of two films: a and a, a and b, b and b
    assert (review.n_sentences, review.n_films, review.n_kept) == (4, 2, 40)


def test_one_film_gives_no_interval_and_nothing_marked_no_figure():
    review = estimates_of([answered("a", 0), answered("a", 1)], n_kept=2)
    assert all(of.ci95 is None for of in review.figures)
    assert values(review)["dialogue", "share"] == 0
    assert values(review)["collected and said, start", "median"] is None


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.booleans(), st.floats(0, 5), st.floats(0.1, 5)), min_size=1, max_size=12
    )
)
def test_figures_are_within_what_was_answered(rows):
    sentences = [
        answered(film, k, kind="dialogue" if talks else "description", said_s=(start, start + long), seen_s=(1, 2))
        for k, (film, talks, start, long) in enumerate(rows)
    ]
    review = estimates_of(sentences, n_kept=len(rows), resamples=50)
    found = values(review)
    assert found["dialogue", "share"] == pytest.approx(sum(talks for _, talks, *_ in rows) / len(rows))
    errors = [abs(start - 10) for _, talks, start, _ in rows if not talks]
    if errors:
        median, high = (found["collected and said, start", name] for name in ("median", "90th percentile"))
        assert median in errors
        assert min(errors) <= median <= high <= max(errors)
    for of in review.figures:
        if of.ci95 is not None:
            assert of.ci95[0] <= of.ci95[1]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20), st.sampled_from([0.5, 0.9]))
def test_quantile_is_that_of_numpy(errors, q):
    """With equal weights: numpy.quantile by its method inverted_cdf."""
    found = weighted_quantile(np.array(errors), np.ones((1, len(errors))), q)
    assert found[0] == np.quantile(errors, q, method="inverted_cdf")


def test_agreement_by_hand():
    """Cohen 1960, table 1 is of three categories; here: 20 and 5, 10 and 15 give po 0.7, pe 0.5, kappa 0.4."""
    pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    assert kappa(pairs) == pytest.approx(0.4)
    assert kappa([("a", "a")]) is None
    both = []
    for k in range(2):
        one = answered("a", k, said_s=(10, 14))
        other = msgspec.structs.replace(
            one.answers[0], reviewer="ben", kind="dialogue" if k else "description", said_s=(12, 14)
        )
        both.append(msgspec.structs.replace(one, answers=(*one.answers, other)))
    review = estimates_of(both, n_kept=2)
    (found,) = review.agreement
    assert (found.reviewers, found.n_sentences, found.kind, found.words) == (("ann", "ben"), 2, 0.5, 1.0)
    assert (found.said_iou, found.seen_iou) == (0.5, None)  # 2 s of 4 s
    assert values(review)["dialogue", "share"] == 0.25  # a sentence counts once: (0 + 0.5) / 2


def lines_of(out, reviewer="ann", **changes):
    """Answers about all sampled sentences, as the page writes them."""
    return [
        {"id": of.id, "film_s": list(of.film_s), "reviewer": reviewer, "kind": "description", "words": "right",
         "said_s": [of.film_s[0], of.film_s[1] + 0.1], "seen_s": None, "not_seen": False, **changes}
        for of in draw_sample(out).sentences
    ]  # fmt: skip


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_card_has_the_estimates(three, tmp_path, call):
    assert call("collect", "card", three)[1].count("Review by people: not reviewed.") == 1
    ann = write(tmp_path / "ann.jsonl", lines_of(three))
    ben = write(tmp_path / "ben.jsonl", lines_of(three, "ben", kind="dialogue"))
    status, printed, _ = call("collect", "estimate", three, ann, ben, "--json", tmp_path / "found.json", "--full")
    assert status == 0
    assert "ann and ben" in printed
    document = json.loads((tmp_path / "found.json").read_text())
    assert document["figures"][0]["value"] == 0.5  # dialogue by one of two reviewers of each sentence
    assert document == json.loads((three / "review.json").read_text())
    card, text = json.loads((three / "card.json").read_text())["review"], (three / "card.md").read_text()
    assert card["figures"] == document["figures"]
    assert card["n_reviewers"] == 2
    assert "ann" not in json.dumps(card)
    assert "| dialogue: share | 50.0 % | 50.0 % to 50.0 % |" in text
    assert "not reviewed" not in text
    assert call("collect", "card", three)[1] == text  # the review stays


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "film#x"}, ":1: field id: got 'film#x', expected a kept sentence of the collection"),
        ({"film_s": [1, 2]}, "was another collection reviewed?"),
        ({"kind": "song"}, "field kind:"),
        ({"words": None}, "field words:"),
        ({"said_s": [5, 4]}, "field said_s: got 5 to 4 s, expected a start and a later end in seconds"),
        ({"seen_s": [5, 4000]}, "after the end of the film at"),
        ({"seen_s": [5, 6], "not_seen": True}, "got times and not_seen, expected one of them"),
        ({"reviewer": ""}, "field reviewer:"),
        ({"mood": "good"}, "mood"),
    ],
)
def test_bad_answers_are_one_line(three, tmp_path, call, change, message):
    lines = lines_of(three)
    lines[0].update(change)
    path = write(tmp_path / "answers.jsonl", lines)
    card = (three / "card.md").read_bytes()
    status, printed, err = call("collect", "estimate", three, path)
    assert (status, printed, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert not (three / "review.json").exists()
    assert (three / "card.md").read_bytes() == card


def test_what_else_is_refused(three, tmp_path, call):
    path = write(tmp_path / "answers.jsonl", lines_of(three))
    again = shutil.copy(path, tmp_path / "again.jsonl")
    empty = write(tmp_path / "empty.jsonl", [])
    for words, message in (
        (("estimate", three, path, again), "of the reviewer 'ann' again, expected it once"),
        (("estimate", three, empty), "has no answers"),
        (("estimate", tmp_path / "none", path), "is no collection"),
        (("review", tmp_path / "none", "--html", tmp_path / "page.html"), "is no collection"),
        (("review", three, "--html", three / "page.html"), "which is read, expected another place"),
        (("review", three, "--html", "-"), "--html: expected the name of a file"),
    ):
        status, printed, err = call("collect", *words)
        assert (status, printed, len(err.splitlines())) == (2, "", 1)
        assert message in err
    assert not (tmp_path / "page.html").exists()
