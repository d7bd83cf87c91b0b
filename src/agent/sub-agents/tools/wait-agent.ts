import type { Clock } from '../../../base/clock.ts';
import type { JsonObject } from '../../../base/json-value.ts';
import {
  BadArguments,
  checkedTool,
  numberField,
  requireObject,
  stringListField,
} from '../../../tools/bad-arguments.ts';
import { refusalText } from '../../../tools/denial.ts';
import type { Tool } from '../../../tools/tool.ts';
import type { AgentState } from '../../lineage/agent-state.ts';
import { AgentRefused, type AgentTree } from '../../lineage/agent-tree.ts';
import { isAtRest, stateForModel } from '../shown-state.ts';
import { isAgentId } from './agent-id.ts';
import type { AgentToolDeps } from './agent-tool-deps.ts';
import { collabAction } from './collab-action.ts';

/**
 * Each wait that ends without a result costs a model request with the whole prompt, so waits are
 * long.
 */
const WAIT_MS_DEFAULT = 10 * 60 * 1000;
const WAIT_MS_MIN = 10_000;
const WAIT_MS_MAX = 60 * 60 * 1000;
const TARGETS_MAX = 64;
/** How often the store is read for an agent that another process runs. */
const ELSEWHERE_MS = 2_000;

/**
 * `wait_agent`: waits until one of the agents is at rest, the time is over, or the user adds input.
 */
export function waitAgent({ tree, threadId, clock, told, charsMax }: AgentToolDeps): Tool {
  return checkedTool(
    {
      type: 'function',
      name: 'wait_agent',
      description:
        'Waits until at least one of these agents has finished, and returns the final states of those that have. Wait only when you cannot continue without a result, and prefer one long wait to several short ones. A wait ends early if the user says something.',
      parameters: {
        type: 'object',
        properties: {
          targets: {
            type: 'array',
            items: { type: 'string' },
            description:
              'The ids of the agents. Leave it out for all that you have started and that are working.',
          },
          timeout_ms: {
            type: 'integer',
            description: `How long to wait at most, in milliseconds. Default: ${WAIT_MS_DEFAULT}. Between ${WAIT_MS_MIN} and ${WAIT_MS_MAX}.`,
          },
        },
        required: [],
        additionalProperties: false,
      },
    },
    (given, context) => {
      const args = requireObject(given, 'targets');
      const named = targetsOf(args);
      const ms = timeout(args);
      return collabAction(
        context,
        { tool: 'wait', receiverThreadIds: named ?? [] },
        async ({ signal, newInput, interruptCause }) => {
          const targets = named ?? (await workingAgents({ tree, threadId }));
          const { states, timedOut } = await waitFor(targets, {
            tree,
            threadId,
            clock,
            ms,
            signal: AbortSignal.any([signal, newInput]),
          });
          if (signal.aborted)
            throw new AgentRefused(
              refusalText({ by: 'interrupted', cause: interruptCause ?? 'user' }),
            );
          told(states);
          const charsEach = Math.floor(charsMax(context.settings.model) / Math.max(1, states.size));
          const status = Object.fromEntries(
            [...states].map(([id, state]) => [id, stateForModel(state, charsEach)]),
          );
          const isFailed = [...states.values()].some((state) => state.status === 'notFound');
          const isCut = states.size === 0 && !timedOut;
          const note = isCut
            ? { note: 'The user has said something, so the wait has ended. The agents go on.' }
            : {};
          return {
            output: { status, timed_out: timedOut, ...note },
            shown: { receiverThreadIds: [...targets] },
            states,
            isFailed,
          };
        },
      );
    },
  );
}

interface WaitOptions {
  tree: AgentTree;
  threadId: string;
  clock: Clock;
  ms: number;
  signal: AbortSignal;
}

/** Waits until one of the agents is at rest. Returns the states of those that are. */
async function waitFor(
  targets: readonly string[],
  { tree, threadId, clock, ms, signal }: WaitOptions,
): Promise<{ states: Map<string, AgentState>; timedOut: boolean }> {
  const deadline = new AbortController();
  const timer = clock.setTimer(() => deadline.abort(), ms);
  const until = AbortSignal.any([signal, deadline.signal]);
  try {
    for (;;) {
      const change = tree.changed(targets, until);
      const all = await tree.states(threadId, targets);
      const states = new Map([...all].filter(([, state]) => isAtRest(state)));
      if (states.size > 0 || until.aborted)
        return { states, timedOut: states.size === 0 && deadline.signal.aborted };
      // The store tells nobody what another process writes.
      const isElsewhere = [...all.values()].some((state) => state.isElsewhere);
      await (isElsewhere ? Promise.race([change, after(ELSEWHERE_MS, clock, until)]) : change);
    }
  } finally {
    timer.clear();
    deadline.abort();
  }
}

/** Resolves after this time, or when the signal aborts. */
function after(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.clear();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimer(end, ms);
    signal.addEventListener('abort', end);
  });
}

/** The agents that the thread has started and that are working; all that are open if none is. */
async function workingAgents({
  tree,
  threadId,
}: Pick<WaitOptions, 'tree' | 'threadId'>): Promise<string[]> {
  const open = await tree.openAgents(threadId);
  if (open.length === 0)
    throw new AgentRefused('There is no agent that you have started and that is open.');
  const states = await tree.states(threadId, open);
  const working = open.filter((id) => states.get(id)?.status === 'running');
  return (working.length > 0 ? working : open).slice(0, TARGETS_MAX);
}

/** Null: the call names none. */
function targetsOf(args: JsonObject): string[] | null {
  const ids = stringListField(args, 'targets') ?? stringListField(args, 'ids');
  if (ids === null) return null;
  if (ids.length === 0 || ids.length > TARGETS_MAX || !ids.every(isAgentId))
    throw new BadArguments(`\`targets\` must be a list of one to ${TARGETS_MAX} ids of agents.`);
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

function timeout(args: JsonObject): number {
  const ms = numberField(args, 'timeout_ms');
  if (ms === null) return WAIT_MS_DEFAULT;
  if (ms <= 0) throw new BadArguments('`timeout_ms` must be above 0.');
  return Math.min(Math.max(ms, WAIT_MS_MIN), WAIT_MS_MAX);
}
