"""Synthetic worlds: videos, sentences and frame features whose causes are all known.

A world answers what no real dataset can: does a check find a method that guesses, and does it
keep silent where a method sees? Three dials from 0 to 1 set how much there is to guess and to see:
`location_prior` (how uneven locations are overall), `query_prior` (how far the verb predicts the
location) and `perception` (how clear the frame features are). :class:`ToyGrounder` is a method that learns
from both.

Examples
--------
>>> from truemoment.worlds import make_world
>>> world = make_world(n_videos=40, location_prior=0.5, query_prior=0.5, perception=0.8, seed=0)
>>> list(world.splits)
['train', 'val', 'test-iid', 'test-ood']
>>> train = world.splits["train"]
>>> world.features[train.video_id[0]].shape[1], world.features.fps
(32, 2.0)
"""

from truemoment.worlds.export import read_features, write_world
from truemoment.worlds.features import Features
from truemoment.worlds.film_noise import CollectionNoise
from truemoment.worlds.films import FilmSettings, make_films, write_films
from truemoment.worlds.timelines import Events
from truemoment.worlds.toy import ToyGrounder
from truemoment.worlds.world import World, WorldSettings, make_world

__all__ = [
    "CollectionNoise",
    "Events",
    "Features",
    "FilmSettings",
    "ToyGrounder",
    "World",
    "WorldSettings",
    "make_films",
    "make_world",
    "read_features",
    "write_films",
    "write_world",
]
