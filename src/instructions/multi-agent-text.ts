import type { MultiAgentMode } from '../protocol/generated/types.ts';

/** Returns the instructions about when to start agents; null if what the tools say about it applies. */
export function multiAgentText(mode: MultiAgentMode): string | null {
  if (typeof mode === 'object') return mode.custom.trim() === '' ? null : mode.custom;
  switch (mode) {
    case 'explicitRequestOnly':
      return null;
    case 'proactive':
      return 'Agents: start agents with spawn_agent without being asked, where parts of the work do not depend on each other and each is worth a task of its own. Do small tasks yourself.';
    default:
      return mode satisfies never;
  }
}
