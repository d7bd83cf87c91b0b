import type { JsonValue } from '../base/json-value.ts';
import type { ThreadGoal } from '../protocol/generated/types.ts';
import { type ActionOutcome, failed, plainAction } from './action.ts';
import {
  BadArguments,
  checkedTool,
  numberField,
  requireObject,
  stringField,
} from './bad-arguments.ts';
import type { Tool } from './tool.ts';

/** The statuses that the model may set. Only users and the server set the others. */
const MODEL_STATUSES = ['complete', 'blocked', 'paused'] as const;
type ModelStatus = (typeof MODEL_STATUSES)[number];

/**
 * The access of the tools to a thread's goal. `refused` is the reason of a refusal, for the model.
 */
export interface GoalAccess {
  current(): ThreadGoal | null;
  create(request: {
    objective: string;
    tokenBudget: number | null;
    turnId: string;
  }): Promise<ThreadGoal | { refused: string }>;
  mark(status: ModelStatus, turnId: string): Promise<ThreadGoal | { refused: string }>;
}

/**
 * `get_goal`, `create_goal` and `update_goal`: the model reads the thread's goal, creates one, and
 * sets its status.
 */
export function goalTools(goal: GoalAccess): Tool[] {
  return [
    {
      spec: {
        type: 'function',
        name: 'get_goal',
        description: GET,
        parameters: parameters({}, []),
      },
      onlyRecords: true,
      prepare: async () => plainAction(() => goalOutcome(goal.current())),
    },
    checkedTool(
      {
        type: 'function',
        name: 'create_goal',
        description: CREATE,
        parameters: parameters(CREATE_PARAMETERS, ['objective']),
      },
      (args, { turnId }) => {
        const fields = requireObject(args, 'objective');
        const objective = stringField(fields, 'objective');
        const tokenBudget = numberField(fields, 'token_budget');
        if (objective === null)
          throw new BadArguments('`objective` is missing: pass the goal as a string.');
        if (tokenBudget !== null && !Number.isInteger(tokenBudget))
          throw new BadArguments(
            '`token_budget` must be a whole number; leave it out for no limit.',
          );
        return plainAction(async () =>
          goalOutcome(await goal.create({ objective, tokenBudget, turnId })),
        );
      },
      { onlyRecords: true },
    ),
    checkedTool(
      {
        type: 'function',
        name: 'update_goal',
        description: UPDATE,
        parameters: parameters(UPDATE_PARAMETERS, ['status']),
      },
      (args, { turnId }) => {
        const { status: asked } = requireObject(args, 'status');
        const status = MODEL_STATUSES.find((known) => known === asked);
        if (status === undefined)
          throw new BadArguments(
            `\`status\` must be one of ${MODEL_STATUSES.join(', ')}. You cannot set any other status.`,
          );
        return plainAction(async () => goalOutcome(await goal.mark(status, turnId)));
      },
      { onlyRecords: true },
    ),
  ];
}

const GET =
  "Returns the thread's goal: its objective, its status, and the tokens and time used so far. The goal is null if there is none.";

const CREATE =
  'Creates a goal that the thread then works towards over many turns. Call this only if the user or your instructions explicitly ask for a goal; an ordinary task is not a goal. Fails if the thread already has a goal that is not complete.';

const CREATE_PARAMETERS: JsonProperties = {
  objective: {
    type: 'string',
    description:
      'The outcome to reach, stated so that it can be verified. At most 4,000 characters.',
  },
  token_budget: {
    type: 'integer',
    description:
      'The most tokens that the goal may use. Set it only if the user or your instructions give a number.',
  },
};

const UPDATE =
  "Sets the status of the thread's goal. The work on the goal then stops, so be sure that the status is correct. Do not mark the goal blocked because it needs many turns. Do not mark it complete because tokens are running out.";

const UPDATE_PARAMETERS: JsonProperties = {
  status: {
    type: 'string',
    enum: [...MODEL_STATUSES],
    description:
      'complete: the whole objective is reached, and you have verified it. blocked: you tried more than one way, and cannot continue until the user does something or the situation changes. paused: the user asked to stop for now.',
  },
};

type JsonProperties = Record<string, JsonValue>;

function parameters(properties: JsonProperties, required: string[]) {
  return { type: 'object', properties, required, additionalProperties: false };
}

function goalOutcome(result: ThreadGoal | { refused: string } | null): ActionOutcome {
  if (result !== null && 'refused' in result) return failed(result.refused);
  const remainingTokens =
    result?.tokenBudget == null ? null : Math.max(0, result.tokenBudget - result.tokensUsed);
  const completionBudgetReport = result?.status === 'complete' ? COMPLETION_REPORT : null;
  return {
    output: JSON.stringify({ goal: result, remainingTokens, completionBudgetReport }),
    success: true,
  };
}

const COMPLETION_REPORT =
  'Tell the user that the goal is complete. Briefly report the tokens used (and the budget, if there was one) and the time.';
