"""What people and programs read of the studies of measures: a chapter a study, and what is made of chapters.

``chapter`` says what a chapter is; each study has a module of its name; ``chapters`` puts a whole report together,
``verdict`` answers over all of it, ``delivery`` writes for the terminal and as JSON, ``page`` as HTML, and ``parts``
holds what their figures share.
"""
