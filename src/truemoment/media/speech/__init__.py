"""Speech: recognisers behind one interface, transcripts of other programs, and sentences from words."""
