-- A history from one decision (tick :first) to the next (:last): the statements run in this order.
-- A tick begins at dawn and ends at dusk.

-- A fact known at dusk is known at the next dawn, unless the agent loses it.
INSERT INTO given SELECT agent, fact, :first FROM known
WHERE tick = :first - 1 AND NOT EXISTS (
    SELECT 1 FROM lost WHERE (lost.agent, lost.fact, lost.tick) = (known.agent, known.fact, :first));

-- An agent follows a plan that depends on a fact if the agent knows the fact at dawn.
INSERT INTO move SELECT plan.agent, start, 1, goal FROM plan JOIN given USING (agent, fact)
WHERE start = :first AND tick = :first;

-- The move with the largest (tick, rank) gives the place: SQLite takes a bare column from the row of max().
INSERT INTO stand SELECT day, agent, place FROM (
    SELECT n AS day, agent, place, max(2 * tick + rank) FROM tick JOIN move ON tick <= n
    WHERE n >= :first AND n < :last GROUP BY n, agent);

-- From dawn to dusk a fact spreads from one agent to all at the same place; from dusk to the next dawn each of
-- them keeps it, unless the agent loses it.
WITH RECURSIVE reach(tick, place, fact) AS (
    SELECT tick, place, fact FROM given JOIN stand USING (tick, agent) WHERE tick >= :first
    UNION
    SELECT next.tick, next.place, reach.fact
    FROM reach JOIN stand here ON (here.tick, here.place) = (reach.tick, reach.place)
    JOIN stand next ON (next.tick, next.agent) = (here.tick + 1, here.agent)
    WHERE NOT EXISTS (
        SELECT 1 FROM lost WHERE (lost.agent, lost.fact, lost.tick) = (next.agent, reach.fact, next.tick)))
INSERT INTO known SELECT tick, agent, fact FROM reach JOIN stand USING (tick, place);
