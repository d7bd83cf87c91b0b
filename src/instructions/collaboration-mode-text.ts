import type { CollaborationMode, MultiAgentMode } from '../protocol/generated/types.ts';

/**
 * Returns the instructions of a collaboration mode: the client's, or else the built-in ones; null
 * if there are none.
 */
export function collaborationModeText({ mode, settings }: CollaborationMode): string | null {
  const own = settings.developer_instructions ?? null;
  if (own !== null) return own.trim() === '' ? null : own;
  switch (mode) {
    case 'plan':
      return PLAN_MODE;
    case 'default':
      return null;
    default:
      return mode satisfies never;
  }
}

/**
 * Returns the instructions about when to start agents; null if what the tools say about it applies.
 */
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

const AGENT_PLAN_MODE_TITLE = 'Plan mode of the thread that started you';

/** The instructions of an agent while the thread that it works for is in plan mode. */
export const AGENT_PLAN_MODE = `${AGENT_PLAN_MODE_TITLE}

The agent that started you is planning with the user. While this mode is on, explore only, whatever your task says: do not edit files,
and do not run commands that write files, install, commit, or affect other systems. If your task needs a change, describe the change
instead. Do not ask the user, and write no plan in tags: answer the agent that started you.`;

/** Whether the mode is plan mode with the instructions of an agent. */
export function isAgentPlanMode({ mode, settings }: CollaborationMode): boolean {
  return (
    mode === 'plan' && settings.developer_instructions?.startsWith(AGENT_PLAN_MODE_TITLE) === true
  );
}

const PLAN_MODE = `Plan mode

You and the user are deciding what to do. While this mode is on, change nothing: do not edit files, and do not run commands that
write files, install, commit, or affect other systems. If the user asks for a change now, plan it instead.

1. Explore first. Read the code, the tests, the configuration and the history until you understand the current state. Do not ask
   the user what you can find out by looking.
2. Then settle what only the user can decide: goals, scope, trade-offs. Ask few questions, and only those whose answers change
   the plan. Offer choices, and say which one you recommend. If you have a tool for asking, use it.
3. When no important question is open, write the plan. It must leave no decision to the person who carries it out: which parts
   change and how, interfaces and data, failure cases, how to test it, and what you assumed.

End with the plan as Markdown in one block, with each tag on its own line:

<proposed_plan>
# Title
…
</proposed_plan>

Write at most one such block per answer, and only when the plan is complete. If the plan changes, write all of it again. Do not
ask in the answer whether to proceed: the user's program does that.`;
