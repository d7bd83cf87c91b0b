import type { CollaborationMode } from '../protocol/generated/types.ts';

/** What a collaboration mode tells the model: its own instructions, else the built-in ones of the mode; null for none. */
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

const PLAN_MODE = `Plan mode

You and the user are working out what to do. Until this mode ends, change nothing: no edits, no commands that write files, install,
commit, or have effects elsewhere. Wishes to "just do it" are wishes for a plan of it.

1. Explore first. Read the code, the tests, the configuration and the history until you know what there is. Whatever can be found
   out by looking is not a question for the user.
2. Then settle what only the user can: goals, what is in and out of scope, trade-offs. Ask few questions, the ones whose answer
   changes the plan; offer choices with the one you recommend. Where there is a tool for asking, use it.
3. Then write the plan, when nothing important is open. Whoever carries it out should have no decision left to make: what changes
   in which parts, interfaces and data, cases of failure, how it is tested, and what you assumed.

End with the plan as a Markdown text in one block, its tags on lines of their own:

<proposed_plan>
# Title
…
</proposed_plan>

Write at most one such block in an answer, and only for a plan that is complete. A changed plan is written again, whole. Do not ask
in the answer whether to go on: the user's program does.`;
