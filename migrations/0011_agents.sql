-- The thread that started this one as its agent, taken from the origin; NULL: a client started it.
ALTER TABLE thread ADD COLUMN parent_id TEXT;
-- When the agent was closed; NULL: it is open, or the thread is no agent.
ALTER TABLE thread ADD COLUMN agent_closed_at INTEGER;
UPDATE thread SET parent_id = origin ->> '$.source.subAgent.thread_spawn.parent_thread_id' 
 WHERE source_kind = 'subAgentThreadSpawn' AND json_valid(origin);
CREATE INDEX thread_parent ON thread (parent_id) WHERE parent_id IS NOT NULL;
