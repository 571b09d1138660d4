"""Two-tower models: small ones with random weights, saved in the form of the large ones."""

import dataclasses
import importlib
import json
import pickle
import re
import shutil
import string

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
transformers = pytest.importorskip("transformers", exc_type=ImportError)
Image = pytest.importorskip("PIL.Image")
torch.set_num_threads(1)

import msgspec  # noqa: E402 - what is tested may be missing

from truemoment.base.boundary.text import short_line  # noqa: E402 - as above
from truemoment.base.errors import InputError, MissingFileError, UsageError  # noqa: E402 - as above
from truemoment.cli import run  # noqa: E402 - as above
from truemoment.media.video import encoders  # noqa: E402 - as above
from truemoment.media.video.encoders import Encoder, Preparation, load_encoder  # noqa: E402 - as above
from truemoment.searching.index import Index  # noqa: E402 - as above
from truemoment.searching.request import DEFAULT_MODEL  # noqa: E402 - as above

pytestmark = pytest.mark.slow


WORDS = ["a", "red", "circle", "blue", "square", "above", "on", "grass"]
TOWER = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}


def processor_of(model, **settings):
    """Make the library's processor of pictures; its module takes seconds to import, which collecting tests need not."""
    module = importlib.import_module(f"transformers.models.{model}.image_processing_pil_{model}")
    made = {"clip": "CLIPImageProcessorPil", "siglip": "SiglipImageProcessorPil"}
    return getattr(module, made[model])(**settings)


def clip_tokenizer():
    letters = [chr(k) for k in range(33, 127)]
    merges = [("r", "e"), ("re", "d</w>"), ("o", "n</w>")]
    tokens = [*letters, *(of + "</w>" for of in letters), "re", "red</w>", "on</w>", "<|startoftext|>", "<|endoftext|>"]
    return transformers.CLIPTokenizer(vocab={of: k for k, of in enumerate(tokens)}, merges=merges, model_max_length=12)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """A folder with a small CLIP model."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("clip")
    tokenizer = clip_tokenizer()
    special = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    config = transformers.CLIPConfig(
        text_config={**TOWER, **special, "vocab_size": len(tokenizer), "max_position_embeddings": 12},
        vision_config={**TOWER, "image_size": 32, "patch_size": 8},
        projection_dim=8,
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    processor_of("clip", size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def siglip(tmp_path_factory):
    """A folder with a small SigLIP model, its words as one file of the tokenizers library."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("siglip")
    words = Tokenizer(models.WordLevel({of: k for k, of in enumerate(["<pad>", "</s>", "<unk>", *WORDS])}, "<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=10, **special)
    config = transformers.SiglipConfig(
        text_config={**TOWER, "vocab_size": len(tokenizer), "max_position_embeddings": 10, "projection_size": 16},
        vision_config={**TOWER, "image_size": 32, "patch_size": 8},
    )
    transformers.SiglipModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    processor_of("siglip", size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


@pytest.fixture(params=["clip", "siglip"])
def folder(request, tmp_path):
    """A copy of a model's folder, to be changed."""
    return shutil.copytree(request.getfixturevalue(request.param), tmp_path / request.param)


def picture(height, width, seed=0):
    """Noise in coarse squares, so that filters and cuts show."""
    coarse = np.random.default_rng(seed).integers(0, 256, (height // 5 + 1, width // 5 + 1, 3), np.uint8)
    return np.ascontiguousarray(coarse.repeat(5, 0).repeat(5, 1)[:height, :width])


# ---- Pictures made ready


@pytest.mark.parametrize("size", [(32, 32), (120, 160), (160, 120), (33, 200), (17, 20), (224, 224), (1, 50)])
@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("clip", {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}),
        ("clip", {"size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 30}, "resample": 2}),
        ("clip", {"size": {"shortest_edge": 224}}),
        ("siglip", {"size": {"height": 32, "width": 48}}),
        ("siglip", {"size": {"height": 16, "width": 16}, "do_normalize": False, "resample": 2}),
        ("siglip", {"size": {"height": 16, "width": 16}, "do_rescale": False, "image_mean": [9, 8, 7]}),
    ],
    ids=["clip", "clip-cut", "clip-224", "siglip", "no-normalize", "no-rescale"],
)
def test_pictures_are_made_ready_as_the_library_does(tmp_path, model, settings, size):
    # The expectation is the processor of the library that models are published for.
    processor = processor_of(model, **settings)
    processor.save_pretrained(tmp_path)
    rgb = picture(*size)
    expected = processor(images=Image.fromarray(rgb), return_tensors="np")["pixel_values"][0]
    preparation = Preparation.read(tmp_path)
    prepared = preparation(rgb)
    assert prepared.dtype == np.uint8
    factor, offset = (values[:, None, None] for values in preparation.scale)
    # The library resizes all of a picture and then crops; a rounding of the part alone may fall the other way, where
    # the weights of a filter are tenths (32 to 40 pixels) for 7 % of the bytes, else for one or two in a thousand.
    differences = np.abs(prepared.transpose(2, 0, 1) - (expected - offset) / factor)
    assert differences.max() < 2.01
    assert (differences > 0.5).mean() < 0.1
    np.testing.assert_array_equal(preparation.scaled(prepared[None])[0], prepared.transpose(2, 0, 1) * factor + offset)


def test_a_picture_of_absurd_form_takes_no_memory(clip):
    # 20,000 pixels by 1: its shorter side would be made 32, its longer one 640,000.
    preparation = Preparation.read(clip)
    rgb = picture(20_000, 1)
    assert np.array_equal(preparation(rgb), preparation(rgb[9950:10_050]))


def test_the_older_form_with_bare_numbers(tmp_path):
    # As models of 2021 were published: sides as numbers, no word on rescaling.
    said = {
        "size": 224,
        "crop_size": 224,
        "do_center_crop": True,
        "do_normalize": True,
        "do_resize": True,
        "resample": 3,
    }
    said |= {"image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28], "feature_extractor_type": "X"}
    (tmp_path / "preprocessor_config.json").write_bytes(msgspec.json.encode(said))
    expected = Preparation(224, 224, 224, (0.48, 0.46, 0.41), (0.27, 0.26, 0.28))
    assert Preparation.read(tmp_path) == expected


def test_the_newer_form_within_a_processor(tmp_path, clip):
    said = msgspec.json.decode((clip / "preprocessor_config.json").read_bytes())
    (tmp_path / "processor_config.json").write_bytes(msgspec.json.encode({"image_processor": said}))
    assert Preparation.read(tmp_path) == Preparation.read(clip)


def test_a_preparation_is_a_value_that_travels(clip):
    preparation = Preparation.read(clip)
    copy = pickle.loads(pickle.dumps(preparation))  # noqa: S301 - as a pool of processes hands it over
    assert copy == preparation
    assert np.array_equal(copy(picture(50, 60)), preparation(picture(50, 60)))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"{", "expected JSON"),
        (b"[]", "expected an object"),
        (b'{"size": {"longest_edge": 3}}', "no fixed size"),
        (b'{"size": {"shortest_edge": 32}}', "no fixed size"),
        (b'{"size": 32, "do_center_crop": true}', "expected it to fit"),
        (b'{"size": 32, "do_center_crop": true, "crop_size": 40}', "expected it to fit"),
        (b'{"size": 32, "do_center_crop": true, "crop_size": -3}', "size"),
        (b'{"size": {"height": 1000000000, "width": 1}}', "size"),
        (b'{"size": {"height": 8, "width": 8}, "do_resize": false}', "not resized"),
        (b'{"size": {"height": 8, "width": 8}, "image_std": [1, 0, 1]}', "above 0"),
        (b'{"size": {"height": 8, "width": 8}, "image_mean": [1]}', "image_mean"),
        (b'{"size": {"height": 8, "width": 8}, "resample": 77}', "resample"),
    ],
)
def test_preparations_that_are_refused(tmp_path, said, told):
    (tmp_path / "preprocessor_config.json").write_bytes(said)
    with pytest.raises(InputError, match=told) as error:
        Preparation.read(tmp_path)
    assert "preprocessor_config.json" in str(error.value)


def test_no_preparation(tmp_path):
    with pytest.raises(MissingFileError):
        Preparation.read(tmp_path)


# ---- Vectors


def test_clip_vectors_are_those_of_the_model(clip):
    encoder = load_encoder(str(clip), device="cpu")
    assert isinstance(encoder, Encoder)
    assert encoder.n_dimensions == 8
    model = transformers.CLIPModel.from_pretrained(clip).eval()
    batch = np.stack([encoder.prepare(picture(50, 60, seed)) for seed in range(3)])
    texts = ["a red circle", "a", "a blue square above"]
    tokens = clip_tokenizer()(texts, padding=True, truncation=True, return_tensors="pt")
    with torch.inference_mode():
        images = model.visual_projection(
            model.vision_model(pixel_values=torch.from_numpy(encoder.preparation.scaled(batch))).pooler_output
        )
        words = model.text_projection(model.text_model(**tokens).pooler_output)
    np.testing.assert_allclose(encoder.images(batch), images.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(encoder.sentences(texts), words.numpy(), rtol=1e-4, atol=1e-5)


def test_siglip_vectors_are_those_of_the_model(siglip):
    # Sentences are filled up to the model's length, and the filling is seen, as in its training.
    encoder = load_encoder(str(siglip), device="cpu")
    assert encoder.n_dimensions == 16
    model = transformers.SiglipModel.from_pretrained(siglip).eval()
    batch = np.stack([encoder.prepare(picture(50, 60, seed)) for seed in range(3)])
    numbers = torch.tensor([[3, 4, 5, 1, 0, 0, 0, 0, 0, 0], [6, 2, 1, 0, 0, 0, 0, 0, 0, 0]])
    with torch.inference_mode():
        images = model.vision_model(pixel_values=torch.from_numpy(encoder.preparation.scaled(batch))).pooler_output
        words = model.text_model(input_ids=numbers).pooler_output
    np.testing.assert_allclose(encoder.images(batch), images.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(encoder.sentences(["a red circle", "blue zebra"]), words.numpy(), rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def xclip(tmp_path_factory, clip):
    """A folder with a small X-CLIP model, which sees 4 pictures at once."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("xclip")
    for file in clip.iterdir():
        if file.name not in {"config.json", "model.safetensors"}:
            shutil.copy(file, folder)
    text = transformers.CLIPConfig.from_pretrained(clip).text_config
    mit = {"mit_hidden_size": 8, "mit_intermediate_size": 16, "mit_num_hidden_layers": 1, "mit_num_attention_heads": 2}
    config = transformers.XCLIPConfig(
        text_config={
            **TOWER,
            **{name: getattr(text, name) for name in ("vocab_size", "bos_token_id", "eos_token_id", "pad_token_id")},
            "max_position_embeddings": 12,
        },
        vision_config={**TOWER, **mit, "image_size": 32, "patch_size": 8, "num_frames": 4},
        projection_dim=8,
        prompt_num_attention_heads=2,
    )
    transformers.XCLIPModel(config).save_pretrained(folder)
    return folder


def test_clips_of_an_xclip_model_are_those_of_the_library(xclip):
    encoder = load_encoder(str(xclip), device="cpu")
    assert isinstance(encoder, Encoder)
    assert (encoder.n_dimensions, encoder.preparation.frames) == (8, 4)
    clips = np.stack([[encoder.prepare(picture(50, 60, seed + k)) for k in range(4)] for seed in (0, 10)])
    model = transformers.XCLIPModel.from_pretrained(xclip).eval()
    with torch.inference_mode():
        pixels = torch.from_numpy(encoder.preparation.scaled(clips))
        expected = model.get_video_features(pixel_values=pixels).pooler_output.numpy()
        tokens = clip_tokenizer()(["a red circle"], return_tensors="pt")
        words = model.get_text_features(**tokens).pooler_output.numpy()
    np.testing.assert_allclose(encoder.images(clips), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(encoder.sentences(["a red circle"]), words, rtol=1e-4, atol=1e-5)
    backwards = encoder.images(clips[:, ::-1])
    assert np.abs(backwards - expected).max() > 1e-3  # the order of its pictures counts
    still = np.repeat(clips[:1, :1], 4, axis=1)
    np.testing.assert_allclose(encoder.images(clips[0, :1]), encoder.images(still), rtol=1e-4, atol=1e-5)


def test_clips_beside_frames_in_one_index_answer_a_split(clip, xclip, painted, tmp_path):
    index, answers, split = tmp_path / "index", tmp_path / "answers.jsonl", tmp_path / "split.jsonl"
    words = ["index", str(painted / "a.mp4"), "-o", str(index), "--quiet", "--model", str(clip)]
    assert run([*words, "--add-model", str(xclip)]) == 0
    assert run(["search", "a red circle", str(index), "--json", str(tmp_path / "both.json")]) == 0
    models = json.loads((tmp_path / "both.json").read_text())["models"]
    assert [(model["name"], model["fps"]) for model in models] == [(clip.name, 2.0), (xclip.name, 0.5)]
    made = Index(next(index.glob("models/*")))
    assert (made.settings.fps, len(made["a"])) == (0.5, 20)  # clips of 2 s; the film lasts 40 s
    query = {"query_id": "q", "video_id": "a", "sentence": "a red circle", "duration_s": 40, "moments": [[20, 28]]}
    split.write_text(json.dumps(query))
    words = ["search", "split", str(index), "--annotations", str(split), "--top", "3", "-o", str(answers)]
    assert run([*words, "--model", str(xclip)]) == 0
    moments = json.loads(answers.read_text().splitlines()[-1])["moments"]
    assert len(moments) == 3
    assert all(start % 2 == 0 for start, *_ in moments)


def test_a_vector_does_not_depend_on_its_company(folder):
    encoder = load_encoder(str(folder), device="cpu")
    batch = np.stack([encoder.prepare(picture(40, 40, seed)) for seed in range(5)])
    texts = ["a", "a red circle above a blue square", "on grass"] * 100
    together = encoder.sentences(texts)
    assert together.dtype == np.float32
    assert together.shape == (300, encoder.n_dimensions)
    np.testing.assert_allclose(together[1], encoder.sentences(texts[1:2])[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(together[299], together[2], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(encoder.images(batch)[3], encoder.images(batch[3:4])[0], rtol=1e-4, atol=1e-5)
    assert encoder.sentences([]).shape == (0, encoder.n_dimensions)


def test_sentences_too_long_are_cut_and_told(folder):
    encoder = load_encoder(str(folder), device="cpu")
    start = "a red circle above a blue square on grass" if folder.name == "siglip" else "a red circles x"
    texts = ["a", start + " a a a a a a", start + " on on on on on on"]
    assert encoder.cut_short(texts) == [1, 2]
    one, other = encoder.sentences(texts)[1:]
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def saved_words(folder, tokens, **said):
    """Give a SigLIP folder words that keep capitals and punctuation, as Gemma's do, and say `said` beside them."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = Tokenizer(models.WordLevel({of: k for k, of in enumerate(["<pad>", "</s>", "<unk>", *tokens])}, "<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    words.save(str(folder / "tokenizer.json"))
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_bytes(msgspec.json.encode(special | said))


FIRST = {"tokenizer_class": "SiglipTokenizer", "do_lower_case": True}
SECOND = {"tokenizer_class": "GemmaTokenizer"}


@pytest.mark.parametrize(
    ("said", "text", "seen"),
    [
        (FIRST, "A Red, circle!", "a red circle"),
        (FIRST, "  a\n RED.circle  ", "a redcircle"),
        (SECOND, "A Red, circle", "a red, circle"),
        (FIRST | {"do_lower_case": False}, "A Red, circle!", "A Red circle"),
        ({}, "A Red, circle", "a red, circle"),
    ],
)
def test_siglip_sees_sentences_as_in_its_training(siglip, tmp_path, said, text, seen):
    folder = shutil.copytree(siglip, tmp_path / "siglip")
    saved_words(folder, ["a", "red", "circle", "A", "Red", ",", "!", "redcircle"], **said)
    tokenizer = load_encoder(str(folder), device="cpu").tokenizer
    plain = transformers.PreTrainedTokenizerFast.from_pretrained(folder)  # takes `seen` as it is written
    assert tokenizer(text)["input_ids"] == plain(seen)["input_ids"]
    assert plain(text)["input_ids"] != plain(seen)["input_ids"]


def test_siglip_of_the_first_version_sees_no_punctuation(siglip, tmp_path):
    folder = shutil.copytree(siglip, tmp_path / "siglip")
    saved_words(folder, ["ab"], **FIRST)
    encoder = load_encoder(str(folder), device="cpu")
    assert [encoder.tokenizer(f"A{of}B")["input_ids"] for of in string.punctuation] == [[3, 1]] * 32
    np.testing.assert_array_equal(*encoder.sentences([string.punctuation.join("AB"), "ab"]))
    assert encoder.cut_short(["ab" + " !" * 50]) == []
    assert encoder.tokenizer.backend_tokenizer.normalizer.normalize_str(" \tA, \n B. ") == "a b"
    (folder / "tokenizer_config.json").write_bytes(msgspec.json.encode({"pad_token": "<pad>"}))
    (folder / "spiece.model").write_bytes(b"what published models of the first version have beside it")
    assert load_encoder(str(folder)).tokenizer("A,B")["input_ids"] == [3, 1]


def test_siglip_of_the_second_version_sees_what_its_own_class_would(siglip, tmp_path):
    # Its models for pictures of one size are saved as the first version's, with Gemma's words.
    letters = ["▁", *string.ascii_letters, ",", ".", "é"]
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    pieces = {of: k for k, of in enumerate([*special, *letters, "re", "red", "RE"])}
    merges = [("r", "e"), ("re", "d"), ("R", "E")]
    folder = shutil.copytree(siglip, tmp_path / "siglip")
    transformers.GemmaTokenizer(vocab=pieces, merges=merges).save_pretrained(folder)
    config = transformers.SiglipConfig.from_pretrained(folder)
    config.text_config.vocab_size = len(pieces)
    transformers.SiglipModel(config).save_pretrained(folder)
    own = transformers.Siglip2Tokenizer(vocab=pieces, merges=merges)
    tokenizer = load_encoder(str(folder), device="cpu").tokenizer
    for text in ("A RED Circle, Red.", "a  red circle", "É"):
        assert tokenizer(text)["input_ids"] == own(text)["input_ids"]


def test_words_without_a_token_that_fills_up(siglip, tmp_path):
    folder = shutil.copytree(siglip, tmp_path / "siglip")
    (folder / "tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    assert "expected a pad_token" in refused(folder)


def test_words_in_spiece_alone(siglip, tmp_path, monkeypatch):
    folder = shutil.copytree(siglip, tmp_path / "siglip")
    (folder / "tokenizer.json").rename(folder / "spiece.model")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "pip install sentencepiece" in refused(folder)


def test_mixed_precision_on_cuda_alone(clip, monkeypatch):
    encoder = load_encoder(str(clip), device="cpu")
    asked = []
    autocast = torch.autocast
    monkeypatch.setattr(torch, "autocast", lambda kind: asked.append(kind) or autocast("cpu", enabled=False))
    with encoder._computing():
        assert torch.is_inference_mode_enabled()
        assert asked == []
    with dataclasses.replace(encoder, device=torch.device("cuda"))._computing():
        assert torch.is_inference_mode_enabled()
        assert asked == ["cuda"]


def test_a_device_with_too_little_memory(clip, monkeypatch):
    encoder = load_encoder(str(clip), device="cpu")

    def full(**_):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB\nand much more")

    monkeypatch.setattr(encoder.model, "get_image_features", full)
    monkeypatch.setattr(encoder.model, "get_text_features", full)
    monkeypatch.setattr(torch.nn.Module, "to", lambda *_: full())
    for ask in (
        lambda: encoder.images(encoder.prepare(picture(40, 40))[None]),
        lambda: encoder.sentences(["a"]),
        lambda: load_encoder(str(clip), device="cpu"),
    ):
        with pytest.raises(UsageError, match=r"model clip\d* needs more memory than is free on cpu: .* another device"):
            ask()


def test_weights_of_half_precision(clip, tmp_path):
    folder = shutil.copytree(clip, tmp_path / "half")
    transformers.CLIPModel.from_pretrained(clip).half().save_pretrained(folder)
    batch = np.stack([load_encoder(str(clip)).prepare(picture(40, 40))])
    half, full = (load_encoder(str(of), device="cpu").images(batch) for of in (folder, clip))
    assert half.dtype == np.float32
    np.testing.assert_allclose(half, full, atol=0.02 * np.abs(full).max())


# ---- Names and fingerprints


def test_the_fingerprint_tells_a_model_from_another(folder, tmp_path):
    encoder = load_encoder(str(folder))
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "README.md").write_text("words that no vector depends on")
    assert load_encoder(str(copy)).fingerprint == encoder.fingerprint
    assert len(encoder.fingerprint) == 16
    assert (encoder.name, load_encoder(str(copy)).name) == (folder.name, "copy")
    said = (copy / "preprocessor_config.json").read_text().replace('"resample": 3', '"resample": 2')
    (copy / "preprocessor_config.json").write_text(said)
    changed = load_encoder(str(copy)).fingerprint
    assert changed != encoder.fingerprint
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert load_encoder(str(copy)).fingerprint not in {changed, encoder.fingerprint}


@pytest.mark.parametrize(
    "text",
    ["", "no such folder", "scene", "../x", "a/b/c", "a/..", "-x/y", "~no-such-user/", "x" * 5000],
)
def test_names_that_can_be_none(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(encoders, "_fetched", lambda name, _: pytest.fail(f"asked for {name}"))
    with pytest.raises(UsageError, match="expected 'scenes', a folder, or a name"):
        load_encoder(text)


def test_a_model_of_the_hub_that_is_here_already(clip, monkeypatch):
    import huggingface_hub

    asked = []

    def snapshot(name, **options):
        asked.append((name, options))
        return str(clip)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    encoder = load_encoder("some/model")
    assert (encoder.name, encoder.fingerprint) == ("some/model", load_encoder(str(clip)).fingerprint)
    assert [options["local_files_only"] for _, options in asked] == [True]
    allowed = asked[0][1]["allow_patterns"]
    assert not any(of.endswith((".bin", ".py", ".pkl", ".h5", ".msgpack", "*")) for of in allowed)


@pytest.mark.parametrize(
    "lost", ["config.json", "model.safetensors", "preprocessor_config.json", "tokenizer.json", "tokenizer_config.json"]
)
@pytest.mark.parametrize("folder", ["clip"], indirect=True)
def test_a_model_of_the_hub_that_is_here_in_part(folder, tmp_path, monkeypatch, lost):
    import huggingface_hub

    part = shutil.copytree(folder, tmp_path / "part")
    (part / lost).unlink()
    fetched = []

    def snapshot(*_, local_files_only=False, **__):
        if not local_files_only:
            shutil.copy(folder / lost, part)  # the hub's own client fetches what is not here
            fetched.append(lost)
        return str(part)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    assert load_encoder("some/model").fingerprint == load_encoder(str(folder)).fingerprint
    assert load_encoder("some/model").name == "some/model"
    assert fetched == [lost]  # once


@pytest.mark.parametrize("lost", [None, 0, -1])
def test_weights_in_several_files_of_which_some_are_here(clip, tmp_path, monkeypatch, lost):
    import huggingface_hub

    folder = shutil.copytree(clip, tmp_path / "whole")
    transformers.CLIPModel.from_pretrained(clip).save_pretrained(folder, max_shard_size="20KB")
    (folder / "model.safetensors").unlink()
    shards = sorted(folder.glob("model-*.safetensors"))
    assert len(shards) > 1
    part = shutil.copytree(folder, tmp_path / "part")
    if lost is not None:
        (part / shards[lost].name).unlink()
    monkeypatch.setattr(
        huggingface_hub,
        "snapshot_download",
        lambda *_, local_files_only=False, **__: str(part if local_files_only else folder),
    )
    assert load_encoder("some/model").folder == (part if lost is None else folder)


def test_a_model_of_the_hub_that_cannot_be_fetched(monkeypatch):
    import huggingface_hub

    def snapshot(*_, local_files_only=False, **__):
        raise FileNotFoundError("not here") if local_files_only else ConnectionError("no route\nto the hub")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    with pytest.raises(MissingFileError) as error:
        load_encoder("some/model")
    assert "\n" not in str(error.value)
    assert str(error.value) == (
        "with a network, run `hf download some/model --local-dir FOLDER`, and give FOLDER as the model: it is not on "
        "this machine and cannot be fetched (no route)"
    )


def test_the_command_that_fetches_the_default_model_is_not_cut(monkeypatch):
    """It was in the middle of a line that is too long, of which the middle is cut."""
    import huggingface_hub

    def snapshot(*_, local_files_only=False, **__):
        raise FileNotFoundError("no") if local_files_only else ConnectionError(f"Got: ConnectError: {'why ' * 30}")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    with pytest.raises(MissingFileError) as error:
        load_encoder(f"{DEFAULT_MODEL}@{'1a' * 20}")
    said = short_line(str(error.value))
    command = f"hf download {DEFAULT_MODEL} --revision {'1a' * 20} --local-dir FOLDER"
    assert said.startswith(f"with a network, run `{command}`, ")


# ---- Files from outside


def refused(folder, kind=InputError):
    with pytest.raises(kind) as error:
        load_encoder(str(folder))
    assert "\n" not in str(error.value)
    assert str(folder) in str(error.value)
    return str(error.value)


def test_no_files(tmp_path):
    assert "config.json: no such file" in refused(tmp_path, MissingFileError)


@pytest.mark.parametrize(
    "said", [b"", b"{", b"[1]", b"{}", b'{"model_type": "bert"}', b'{"model_type": 3}', b"\xff\xfe"]
)
def test_configurations_of_no_such_model(folder, said):
    (folder / "config.json").write_bytes(said)
    assert "config.json" in refused(folder)


def configured(folder, tower, **numbers):
    """Write other numbers into the configuration of a model: of a tower, or with "" of the whole."""
    said = msgspec.json.decode((folder / "config.json").read_bytes())
    (said[tower] if tower else said).update(numbers)
    (folder / "config.json").write_bytes(json.dumps(said).encode())
    return folder


@pytest.fixture
def never_built(monkeypatch):
    """No model is built: its numbers are refused before."""
    for family in (transformers.CLIPModel, transformers.SiglipModel):
        monkeypatch.setattr(family, "from_pretrained", lambda *_, **__: pytest.fail("a model was built"))


@pytest.mark.parametrize(
    ("tower", "name"),
    [
        ("text_config", "num_hidden_layers"),
        ("text_config", "hidden_size"),
        ("text_config", "vocab_size"),
        ("text_config", "max_position_embeddings"),
        ("vision_config", "num_hidden_layers"),
        ("vision_config", "intermediate_size"),
        ("vision_config", "num_attention_heads"),
        ("vision_config", "num_channels"),
        ("vision_config", "image_size"),
        ("vision_config", "patch_size"),
    ],
)
@pytest.mark.usefixtures("never_built")
def test_absurd_numbers_of_a_model_are_refused_before_anything_is_built(folder, tower, name):
    for value in (0, -1, 1e30, 10**30, 2**31, 1.5, "12", "", None, True, [16], {}, [10**9, 10**9]):
        told = refused(configured(folder, tower, **{name: value}))
        assert told.startswith(f"{folder / 'config.json'}:1: field {tower}.{name}: ")


@pytest.mark.parametrize(
    ("tower", "numbers"),
    [
        ("text_config", {"num_hidden_layers": 1_000_000}),
        ("text_config", {"num_hidden_layers": 1_000_000, "hidden_size": 1, "num_attention_heads": 1}),
        ("text_config", {"vocab_size": 1_000_000}),
        ("text_config", {"max_position_embeddings": 1_000_000}),
        ("text_config", {"hidden_size": 1_000_000}),
        ("vision_config", {"num_hidden_layers": 1_000_000}),
        ("vision_config", {"hidden_size": 1_000_000}),
        ("vision_config", {"intermediate_size": 1_000_000}),
        ("vision_config", {"image_size": 1_000_000}),
        ("vision_config", {"patch_size": 1_000_000}),
        ("", {"text_config_dict": {"num_hidden_layers": 10**6}, "projection_dim": 8}),
    ],
)
@pytest.mark.usefixtures("never_built")
def test_a_model_larger_than_its_weights_is_refused_before_it_is_built(clip, tmp_path, tower, numbers):
    folder = configured(shutil.copytree(clip, tmp_path / "clip"), tower, **numbers)
    n_bytes = (folder / "model.safetensors").stat().st_size
    found = re.fullmatch(
        r".*/clip: cannot be loaded as a model \(config\.json is of one of (.*) bytes or more, its weights have (.*): "
        r"cut off\?\)",
        refused(folder),
    )
    assert int(found[1].replace(",", "")) > int(found[2].replace(",", "")) == n_bytes


@pytest.mark.usefixtures("never_built")
def test_names_of_labels_are_not_made_up_by_the_million(folder):
    assert "num_labels" in refused(configured(folder, "", num_labels=10**9))


def test_a_model_is_not_smaller_than_its_configuration_says(folder, monkeypatch):
    # All numbers and names that are counted are in the file: the real weights are never refused.
    config = encoders._config_of(folder, folder.name)
    assert encoders._least_bytes(config) < (folder / "model.safetensors").stat().st_size
    monkeypatch.setattr(encoders, "LAYER_BYTES", 0)
    n_numbers = sum(of.numel() for of in transformers.AutoModel.from_pretrained(folder).parameters())
    assert 0.8 * n_numbers < encoders._least_bytes(config) <= n_numbers  # without those of norms and biases


def test_vectors_of_two_spaces_are_refused(siglip, tmp_path):
    folder = shutil.copytree(siglip, tmp_path / "siglip")
    config = transformers.SiglipConfig.from_pretrained(folder)
    config.text_config.projection_size = 8
    transformers.SiglipModel(config).save_pretrained(folder)
    assert "gives 16 numbers a picture and 8 a sentence, expected 16 of both" in refused(folder)


def test_a_tokenizer_that_fails_is_refused_when_it_is_loaded(siglip, tmp_path):
    folder = shutil.copytree(siglip, tmp_path / "siglip")
    said = msgspec.json.decode((folder / "tokenizer_config.json").read_bytes())
    (folder / "tokenizer_config.json").write_bytes(msgspec.json.encode(said | {"model_max_length": "ten"}))
    assert "cannot be used as a model" in refused(folder)


def test_weights_that_could_run_code_are_not_opened(folder):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("a pickle was opened",)

    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    assert "no weights as safetensors" in refused(folder, MissingFileError)


def test_code_beside_a_model_is_not_run(folder):
    (folder / "modeling.py").write_text("raise SystemExit('code was run')")
    said = msgspec.json.decode((folder / "config.json").read_bytes())
    said["auto_map"] = {"AutoModel": "modeling.Model", "AutoConfig": "modeling.Config"}
    (folder / "config.json").write_bytes(msgspec.json.encode(said))
    said = msgspec.json.decode((folder / "tokenizer_config.json").read_bytes())
    said["auto_map"] = {"AutoTokenizer": ["modeling.Tokenizer", None]}
    (folder / "tokenizer_config.json").write_bytes(msgspec.json.encode(said))
    assert load_encoder(str(folder)).n_dimensions in {8, 16}


def test_no_class_is_asked_to_run_code(folder, monkeypatch):
    asked = []
    for family in (transformers.CLIPModel, transformers.SiglipModel, transformers.PreTrainedTokenizerFast):

        def told(cls, *of, _real=family.from_pretrained.__func__, **options):
            asked.append({name: options.get(name) for name in ("trust_remote_code", "local_files_only")})
            return _real(cls, *of, **options)

        monkeypatch.setattr(family, "from_pretrained", classmethod(told))
    load_encoder(str(folder))
    assert asked == [{"trust_remote_code": False, "local_files_only": True}] * 2


@pytest.mark.parametrize("left", [0, 7, 8, 100, 5000])
def test_weights_that_are_cut_off(folder, left):
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:left])
    assert "cannot be loaded as a model" in refused(folder)


def test_weights_of_another_size(folder):
    said = msgspec.json.decode((folder / "config.json").read_bytes())
    said["vision_config"]["hidden_size"] = 32
    (folder / "config.json").write_bytes(msgspec.json.encode(said))
    refused(folder)


def test_weights_that_are_not_all_there(folder):
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    lost = next(name for name in tensors if name.startswith("vision_model.encoder"))
    del tensors[lost]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert f"has no weights {lost}" in refused(folder)


def test_weights_that_are_no_numbers(folder):
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    name = next(name for name in tensors if name.startswith("vision_model.encoder"))
    tensors[name][0] = float("nan")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert f"{name} has numbers that are not finite" in refused(folder)


def test_pictures_of_another_size_than_the_model_takes(folder):
    said = (folder / "preprocessor_config.json").read_text().replace("32", "48")
    (folder / "preprocessor_config.json").write_text(said)
    assert "48 x 48, but its model takes 32 x 32" in refused(folder)


def test_no_words(folder):
    for path in folder.glob("tokenizer*"):
        path.unlink()
    assert "has neither tokenizer.json nor" in refused(folder, MissingFileError)


def test_words_in_two_files(clip, tmp_path):
    # As models of 2021 were published.
    folder = shutil.copytree(clip, tmp_path / "older")
    words = msgspec.json.decode((folder / "tokenizer.json").read_bytes())["model"]
    for path in folder.glob("tokenizer*"):
        path.unlink()
    (folder / "vocab.json").write_bytes(msgspec.json.encode(words["vocab"]))
    merges = "".join(" ".join(pair) + "\n" for pair in words["merges"])
    (folder / "merges.txt").write_text("#version: 0.2\n" + merges)
    texts = ["a red circle", "blue"]
    newer, older = (load_encoder(str(of), device="cpu").sentences(texts) for of in (clip, folder))
    np.testing.assert_allclose(older, newer, atol=1e-6)


def test_damaged_words(folder):
    (folder / "tokenizer.json").write_bytes(b'{"model": 3}')
    refused(folder)


def test_words_of_a_larger_model(folder):
    said = msgspec.json.decode((folder / "tokenizer.json").read_bytes())
    said["model"]["vocab"] |= {f"more{k}": 5000 + k for k in range(9)}
    (folder / "tokenizer.json").write_bytes(msgspec.json.encode(said))
    refused(folder)


@pytest.mark.parametrize("device", ["nowhere", "cuda:77", "", "cpu:x", "meta", "hpu", "privateuseone"])
def test_no_such_device(clip, device):
    with pytest.raises(UsageError, match="cannot be used here"):
        load_encoder(str(clip), device=device)


# ---- Rows of tokens


def test_rows_of_tokens_are_those_of_the_library_without_padding(clip):
    """The expectation is the text transformer of the library on each sentence alone: detr.md, 2.1."""
    texts = ["a red circle", "on"]
    encoder = load_encoder(str(clip), device="cpu")
    model = transformers.CLIPTextModel.from_pretrained(clip).eval()
    rows = encoder.tokens(texts)
    assert isinstance(encoder, encoders.TokenEncoder)
    for text, of_text in zip(texts, rows, strict=True):
        tokens = encoder.tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            expected = model(**tokens).last_hidden_state[0].numpy()
        assert of_text.shape == (len(tokens["input_ids"][0]), encoder.n_hidden)
        np.testing.assert_allclose(of_text, expected, atol=1e-5)


def test_a_model_without_marks_has_no_rows_of_tokens(siglip):
    with pytest.raises(UsageError, match="expected a CLIP model"):
        load_encoder(str(siglip), device="cpu").tokens(["a red circle"])
