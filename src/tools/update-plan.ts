import type { JsonObject } from '../base/json-value.ts';
import type { TurnPlanStep, TurnPlanStepStatus } from '../protocol/generated/types.ts';
import { failed, plainAction } from './action.ts';
import {
  BadArguments,
  checkedTool,
  objectListField,
  requireObject,
  stringField,
} from './bad-arguments.ts';
import type { Tool } from './tool.ts';

const STEPS_MAX = 1_000;
const STATUSES = new Map<string, TurnPlanStepStatus>([
  ['pending', 'pending'],
  ['in_progress', 'inProgress'],
  ['completed', 'completed'],
]);

/**
 * `update_plan`: shows the user the steps of the work and the status of each. Each call replaces
 * the whole plan. Not in plan mode.
 */
export const updatePlan: Tool = checkedTool(
  {
    type: 'function',
    name: 'update_plan',
    description:
      'Shows the user your plan: its steps and the status of each. Pass the whole plan each time. Keep at most one step in progress.',
    parameters: {
      type: 'object',
      properties: {
        explanation: { type: 'string', description: 'Why the plan changed.' },
        plan: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              step: { type: 'string' },
              status: { type: 'string', enum: [...STATUSES.keys()] },
            },
            required: ['step', 'status'],
            additionalProperties: false,
          },
        },
      },
      required: ['plan'],
      additionalProperties: false,
    },
  },

  (args, { threadId, turnId, settings }) => {
    if (settings.collaborationMode.mode === 'plan')
      return failed(
        'update_plan is unavailable in plan mode: it shows the progress of work. Write the plan in a <proposed_plan> block.',
      );
    const fields = requireObject(args, 'plan');
    const plan = objectListField(fields, 'plan', [0, STEPS_MAX]).map(planStep);
    const explanation = stringField(fields, 'explanation');
    return plainAction(async ({ emit }) => {
      await emit({ method: 'turn/plan/updated', params: { threadId, turnId, explanation, plan } });
      return { output: 'The plan is updated.', success: true };
    });
  },
);

function planStep(fields: JsonObject): TurnPlanStep {
  const step = stringField(fields, 'step');
  const status = STATUSES.get(stringField(fields, 'status') ?? '');
  if (step === null || status === undefined)
    throw new BadArguments(
      `each step of \`plan\` needs a \`step\` and a \`status\`: ${[...STATUSES.keys()].join(', ')}.`,
    );
  return { step, status };
}
