-- The database of a study. Times are seconds since 1970. `events` is append only and decides everything else.
CREATE TABLE videos (
  id INTEGER PRIMARY KEY, video_id TEXT NOT NULL UNIQUE, path TEXT NOT NULL, identity TEXT NOT NULL DEFAULT '',
  played TEXT NOT NULL DEFAULT '', played_identity TEXT NOT NULL DEFAULT '', duration_s REAL, frames INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'waiting',              -- waiting, ready, not playable
  why TEXT NOT NULL DEFAULT '', copy INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE queries (
  id INTEGER PRIMARY KEY, query_id TEXT NOT NULL UNIQUE, video INTEGER NOT NULL REFERENCES videos, sentence TEXT NOT NULL,
  kind TEXT NOT NULL,                                 -- query, gold, absent, moved, other, practice
  hidden TEXT NOT NULL                                -- references and gold: never sent to annotators
) STRICT;
CREATE INDEX queries_by_video ON queries (video);

CREATE TABLE people (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token_sha256 BLOB UNIQUE, role TEXT NOT NULL,
  state TEXT NOT NULL,                                -- invited, read, revoked
  made_at INTEGER NOT NULL, seen_at INTEGER
) STRICT;

CREATE TABLE tasks (
  id INTEGER PRIMARY KEY, person INTEGER NOT NULL REFERENCES people, query INTEGER NOT NULL REFERENCES queries,
  place INTEGER NOT NULL, control TEXT NOT NULL DEFAULT '', shown TEXT NOT NULL DEFAULT '', lease_until INTEGER,
  state TEXT NOT NULL DEFAULT 'waiting'               -- waiting, draft, submitted, set aside, taken back
) STRICT;
CREATE INDEX tasks_by_person ON tasks (person, place);
CREATE INDEX tasks_by_query ON tasks (query);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, task INTEGER REFERENCES tasks,
  person INTEGER REFERENCES people, kind TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_task ON events (task, seq);
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never removed'); END;

CREATE TABLE answers (
  task INTEGER PRIMARY KEY REFERENCES tasks, version INTEGER NOT NULL, verdict TEXT NOT NULL, body TEXT NOT NULL,
  active_s INTEGER NOT NULL, submitted_at INTEGER
) STRICT;
