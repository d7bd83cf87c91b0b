import type { AgentRole, AgentRoles } from '../../../config/agents/agent-role.ts';
import { knownRoles } from '../../../config/agents/known-roles.ts';
import type { ToolSpec } from '../../../model/model.ts';
import { itemEffort } from '../../../protocol/item-effort.ts';
import {
  BadArguments,
  booleanField,
  checkedTool,
  requireObject,
  textField,
} from '../../../tools/bad-arguments.ts';
import type { Tool } from '../../../tools/tool.ts';
import type { NewAgent } from '../../lineage/agent-tree.ts';
import { agentChoices, type ChoiceSources } from '../agent-choices.ts';
import { agentInput, inputParameters, inputText } from './agent-input.ts';
import type { AgentToolDeps } from './agent-tool-deps.ts';
import { collabAction } from './collab-action.ts';

/**
 * `spawn_agent`: starts an agent with a task. Returns its id and its nickname at once; it works
 * beside the one that started it.
 */
export function spawnAgent(deps: AgentToolDeps): Tool {
  return checkedTool(spawnAgentSpec(deps.settings), (given, context) => {
    const args = requireObject(given, 'message');
    const input = agentInput(args, context.settings.cwd);
    const forksHistory = booleanField(args, 'fork_context') ?? false;
    const role = roleNamed(textField(args, 'agent_type'), deps.settings.roles);
    const asked = {
      model: textField(args, 'model'),
      effort: textField(args, 'reasoning_effort'),
    };
    checkEffort(asked.effort, { role, settings: deps.settings, own: context.settings });
    const chosen = agentChoices(asked, { role, settings: deps.settings, own: context.settings });
    const shown = {
      tool: 'spawnAgent' as const,
      prompt: inputText(input),
      model: chosen.model,
      reasoningEffort: itemEffort(chosen.effort),
    };
    return collabAction(context, shown, async ({ signal }) => {
      const { tree, threadId, limits } = deps;
      const { settings, turnId } = context;
      const agent: NewAgent = {
        ...chosen,
        role: role?.name ?? null,
        nicknames: role?.nicknames ?? [],
        turnId,
        settings,
        config: role?.config ?? null,
        forksHistory,
        limits,
      };
      const started = await tree.start(threadId, agent, input, signal);
      deps.told(new Map([[started.id, { status: 'running', turnId: null }]]));
      return {
        output: {
          agent_id: started.id,
          nickname: started.nickname,
          ...(chosen.note === null ? {} : { note: chosen.note }),
        },
        shown: {
          receiverThreadIds: [started.id],
          model: started.model,
          reasoningEffort: itemEffort(started.effort),
        },
        states: await tree.states(threadId, [started.id]),
      };
    });
  });
}

function spawnAgentSpec(settings: AgentToolDeps['settings']) {
  return {
    type: 'function',
    name: 'spawn_agent',
    description:
      'Starts another agent that works on a task of its own while you continue. Use it only if the user asks for agents or for parallel work, or if your instructions do. The agent works in the same folder, so give each one files of its own. It does not see this conversation unless fork_context is true: write everything that it needs into the message. Returns its id.',
    parameters: {
      type: 'object',
      properties: {
        ...inputParameters('The task, complete in itself.'),
        agent_type: { type: 'string', description: roleList(settings.roles) },
        fork_context: {
          type: 'boolean',
          description:
            'Whether the agent begins with the whole conversation so far. Default: false.',
        },
        model: {
          type: 'string',
          description: 'The model of the agent. Leave it out for the usual one.',
        },
        reasoning_effort: {
          type: 'string',
          description: `The reasoning effort of the agent: ${settings.efforts.join(', ')}. Leave it out for the usual one.`,
        },
      },
      required: [],
      additionalProperties: false,
    },
  } satisfies ToolSpec;
}

/** The role of this name; null if none is named. */
function roleNamed(name: string | null, configured: AgentRoles): AgentRole | null {
  if (name === null) return null;
  const problem = configured.problems.find(({ role }) => role === name);
  if (problem !== undefined)
    throw new BadArguments(`there is no agent of the role ${name}: ${problem.summary}.`);
  const roles = knownRoles(configured);
  const role = roles.find((each) => each.name === name);
  if (role === undefined)
    throw new BadArguments(
      `\`agent_type\` must be one of ${roles.map((each) => each.name).join(', ')}.`,
    );
  return role;
}

/** Refuses an effort that no model of the provider has: each request of the agent would fail. */
function checkEffort(effort: string | null, { role, settings, own }: ChoiceSources): void {
  // A role with a provider of its own is checked by that provider.
  if (
    effort === null ||
    effort === own.effort ||
    effort === settings.effort ||
    role?.config.model_provider !== undefined
  )
    return;
  if (!settings.efforts.includes(effort))
    throw new BadArguments(`\`reasoning_effort\` must be one of ${settings.efforts.join(', ')}.`);
}

function roleList(configured: AgentRoles): string {
  const lines = knownRoles(configured).map(({ name, description }) =>
    description === '' ? `- ${name}` : `- ${name}: ${description}`,
  );
  return ['The role of the agent. The roles are:', ...lines].join('\n');
}
