-- given, lost: a fact that an agent knows, or forgets, as a tick begins. move: the last by (tick, rank) counts.
-- stand, known: an agent's place and facts as a tick ends.
CREATE TABLE tick (n INTEGER PRIMARY KEY);
CREATE TABLE plan (agent, start, goal, fact);
CREATE TABLE given (agent, fact, tick);
CREATE TABLE lost (agent, fact, tick);
CREATE TABLE move (agent, tick, rank, place);
CREATE TABLE stand (tick, agent, place, PRIMARY KEY (tick, agent)) WITHOUT ROWID;
CREATE INDEX there ON stand (tick, place);
CREATE TABLE known (tick, agent, fact, PRIMARY KEY (tick, agent, fact)) WITHOUT ROWID;
