import { isObject, type JsonValue } from '../base/json-value.ts';
import type { TurnPlanStep, TurnPlanStepStatus } from '../protocol/generated/types.ts';
import { failed, plainAction } from './action.ts';
import type { Tool } from './tool.ts';

const STATUSES = new Map<string, TurnPlanStepStatus>([
  ['pending', 'pending'],
  ['in_progress', 'inProgress'],
  ['completed', 'completed'],
]);

/** `update_plan`: shows the user the steps of the work and the status of each. Each call replaces the whole plan. Not in plan mode. */
export const updatePlan: Tool = {
  spec: {
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
            properties: { step: { type: 'string' }, status: { type: 'string', enum: [...STATUSES.keys()] } },
            required: ['step', 'status'],
            additionalProperties: false,
          },
        },
      },
      required: ['plan'],
      additionalProperties: false,
    },
  },

  async prepare(args, { threadId, turnId, settings }) {
    if (settings.collaborationMode.mode === 'plan')
      return failed('update_plan is unavailable in plan mode: it shows the progress of work. Write the plan in a <proposed_plan> block.');
    const plan = planSteps(args);
    if (typeof plan === 'string') return failed(plan);
    const explanation = isObject(args) && typeof args.explanation === 'string' ? args.explanation : null;
    return plainAction(async ({ emit }) => {
      await emit({ method: 'turn/plan/updated', params: { threadId, turnId, explanation, plan } });
      return { output: 'The plan is updated.', success: true };
    });
  },
};

/** Returns the steps, or the reason why they are invalid. */
function planSteps(args: JsonValue): TurnPlanStep[] | string {
  if (!isObject(args) || !Array.isArray(args.plan)) return 'update_plan needs `plan`: a list of {step, status}.';
  const steps: TurnPlanStep[] = [];
  for (const [index, entry] of args.plan.entries()) {
    const step = isObject(entry) ? entry.step : undefined;
    const status = isObject(entry) && typeof entry.status === 'string' ? STATUSES.get(entry.status) : undefined;
    if (typeof step !== 'string' || status === undefined) {
      return `update_plan: plan[${index}] needs a \`step\` (a string) and a \`status\` (${[...STATUSES.keys()].join(', ')}).`;
    }
    steps.push({ step, status });
  }
  return steps;
}
