import { isObject, type JsonValue } from '../base/json-value.ts';
import type { ThreadGoal } from '../protocol/generated/types.ts';
import { type ActionOutcome, failed, plainAction } from './action.ts';
import type { Tool } from './tool.ts';

/** The statuses that the model may give a goal; the others are for users and for the server. */
const MODEL_STATUSES = ['complete', 'blocked', 'paused'] as const;
type ModelStatus = (typeof MODEL_STATUSES)[number];

/** A thread's goal, as the tools reach it. What is refused is said in a text for the model. */
export interface GoalAccess {
  current(): ThreadGoal | null;
  create(request: { objective: string; tokenBudget: number | null; turnId: string }): Promise<ThreadGoal | { refused: string }>;
  mark(status: ModelStatus, turnId: string): Promise<ThreadGoal | { refused: string }>;
}

/** `get_goal`, `create_goal` and `update_goal`: the model reads the thread's goal, begins one, and says what became of it. */
export function goalTools(goal: GoalAccess): Tool[] {
  return [
    {
      spec: { type: 'function', name: 'get_goal', description: GET, parameters: parameters({}, []) },
      onlyRecords: true,
      prepare: async () => plainAction(() => said(goal.current())),
    },
    {
      spec: { type: 'function', name: 'create_goal', description: CREATE, parameters: parameters(CREATE_PARAMETERS, ['objective']) },
      onlyRecords: true,
      async prepare(args, { turnId }) {
        const { objective, token_budget: budget = null } = isObject(args) ? args : {};
        if (typeof objective !== 'string') return failed('create_goal needs an `objective`: a text.');
        if (budget !== null && (typeof budget !== 'number' || !Number.isInteger(budget)))
          return failed('create_goal: `token_budget` is a whole number; leave it out for no limit.');
        return plainAction(async () => said(await goal.create({ objective, tokenBudget: budget, turnId })));
      },
    },
    {
      spec: { type: 'function', name: 'update_goal', description: UPDATE, parameters: parameters(UPDATE_PARAMETERS, ['status']) },
      onlyRecords: true,
      async prepare(args, { turnId }) {
        const status = MODEL_STATUSES.find((known) => isObject(args) && known === args.status);
        if (status === undefined)
          return failed(`update_goal needs a \`status\`: ${MODEL_STATUSES.join(', ')}. Others are not yours to set.`);
        return plainAction(async () => said(await goal.mark(status, turnId)));
      },
    },
  ];
}

const GET = "Reads the thread's goal: its objective, its status, and the tokens and the time that it has taken. Null: there is none.";

const CREATE =
  'Gives the thread a goal, which it then works towards over many turns. Only when the user, or instructions that you were given, ask for a goal by that word: an ordinary task is none. Refused while there is a goal that is not complete.';

const CREATE_PARAMETERS: JsonProperties = {
  objective: { type: 'string', description: 'What is to be reached, so that it can be checked; at most 4,000 characters.' },
  token_budget: { type: 'integer', description: 'How many tokens the goal may take: only where a number was asked for.' },
};

const UPDATE =
  "Says what became of the thread's goal. It ends the work on the goal, so be sure: that it needs many turns is no reason to say that it is blocked, and that tokens run out is none to say that it is complete.";

const UPDATE_PARAMETERS: JsonProperties = {
  status: {
    type: 'string',
    enum: [...MODEL_STATUSES],
    description:
      'complete: all of the objective is reached, and you have checked it. blocked: you tried more than one way, and cannot go on before the user or something outside changes. paused: the user asked to stop for now.',
  },
};

type JsonProperties = Record<string, JsonValue>;

function parameters(properties: JsonProperties, required: string[]) {
  return { type: 'object', properties, required, additionalProperties: false };
}

function said(result: ThreadGoal | { refused: string } | null): ActionOutcome {
  if (result !== null && 'refused' in result) return failed(result.refused);
  const remainingTokens = result?.tokenBudget == null ? null : Math.max(0, result.tokenBudget - result.tokensUsed);
  const completionBudgetReport = result?.status === 'complete' ? REPORT : null;
  return { output: JSON.stringify({ goal: result, remainingTokens, completionBudgetReport }), success: true };
}

const REPORT =
  'Tell the user that the goal is reached, and in a few words what it took: the tokens (of how many, if there was a budget) and the time.';
