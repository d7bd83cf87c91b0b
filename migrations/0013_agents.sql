-- What is asked of agents often, of thousands at a time: without reading their rows. `origin` and `token_usage` are JSON.
CREATE INDEX thread_agent ON thread (
  parent_id, id, agent_closed_at, listed,
  (CASE WHEN json_valid(origin) THEN origin ->> '$.spawnTurnId' END),
  (CASE WHEN json_valid(token_usage) THEN token_usage ->> '$.usage.total.totalTokens' END),
  (CASE WHEN json_valid(token_usage) THEN token_usage ->> '$.usage.total.inputTokens' END),
  (CASE WHEN json_valid(token_usage) THEN token_usage ->> '$.usage.total.cachedInputTokens' END),
  (CASE WHEN json_valid(token_usage) THEN token_usage ->> '$.usage.total.cacheWriteInputTokens' END),
  (CASE WHEN json_valid(token_usage) THEN token_usage ->> '$.usage.total.outputTokens' END),
  (CASE WHEN json_valid(token_usage) THEN token_usage ->> '$.usage.total.reasoningOutputTokens' END)
) WHERE parent_id IS NOT NULL;
DROP INDEX thread_parent;
