"""The page of a folder of results: what lies in it as cards, the page of each, and audits and comparisons.

==============  ==================================================================================================
entries         the files and folders in it, of which no link is followed
kinds           kinds of results: how each is recognised by its beginning, and what its card states
documents       JSON documents of commands: their facts, and their report
catalogue       cards by key, kept while their files do not change; searched and paged
choices         annotations that go with predictions
rooms           pages of predictions and indexes, below the page of the folder
work            audits and comparisons, in a process of their own
study_sites     sites of studies of ``annotate``, in processes of their own
folder_routes   requests of the page
folder_site     the server
==============  ==================================================================================================

It needs ``pip install 'truemoment[pages]'``; pages of indexes also ``truemoment[search]``.
"""
