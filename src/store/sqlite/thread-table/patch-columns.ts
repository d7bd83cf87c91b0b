/**
 * The columns of what a patch can change of a thread, by how they store it: as it is, as 0 or 1, or
 * encoded. Others have rules of their own.
 */
export const patchColumns = {
  plain: [
    ['updatedAtMs', 'updated_at'],
    ['recencyAtMs', 'recency_at'],
    ['archivedAtMs', 'archived_at'],
    ['memoryMode', 'memory_mode'],
    ['agentClosedAtMs', 'agent_closed_at'],
    ['queueHold', 'queue_hold'],
  ],
  flags: [
    ['listed', 'listed'],
    ['previewIsCommand', 'preview_is_command'],
    ['daybreakEnabled', 'daybreak'],
  ],
  encoded: [
    ['gitInfo', 'git_info'],
    ['tokenUsage', 'token_usage'],
    ['told', 'told'],
    ['goal', 'goal'],
    ['queue', 'queue'],
  ],
} as const;
