"""Two pages on one server: a search for moments in videos, and a look at the answers of methods, query by query.

==============  ==================================================================================================
videos           the videos of an index or folder, by number: where they are, and whether they are what was indexed
pictures        pictures of moments, made in worker processes and kept on disk
playing         what a video needs to be played: frame table, pictures, peaks, and a copy where browsers need one
searches        sentences and moments to answers: the model, the first stage, z, the last answers
serving         the thread that searches, one at a time; the newest search of a tab wins
strip           best score at each place of a video
like            more like a moment
kept            collections: saved moments, as files
exports         moments for other programs, as text or as clips
search_site     the search page: routes and application
looking         columns of all queries and systems
filters         filters, facets and order of the queries
lanes           one query: references, answers and floors on one axis
notes           notes and tags, as a file
looking_site    the page of answers: routes and application
==============  ==================================================================================================

It needs ``pip install 'truemoment[pages]'``; the search page also ``truemoment[search]``.
"""
