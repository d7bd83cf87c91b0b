import { checkedTool, requireObject } from '../../../tools/bad-arguments.ts';
import type { Tool } from '../../../tools/tool.ts';
import { agentState } from '../../lineage/agent-state.ts';
import { stateForModel } from '../shown-state.ts';
import { agentId } from './agent-id.ts';
import type { AgentToolDeps } from './agent-tool-deps.ts';
import { collabAction } from './collab-action.ts';

/** `close_agent`: ends an agent and all agents below it. */
export function closeAgent({ tree, threadId, told }: AgentToolDeps): Tool {
  return checkedTool(
    {
      type: 'function',
      name: 'close_agent',
      description:
        'Closes an agent that you no longer need. If it is still working, it is stopped, and so are all agents that it has started.',
      parameters: {
        type: 'object',
        properties: { target: { type: 'string', description: 'The id of the agent.' } },
        required: ['target'],
        additionalProperties: false,
      },
    },
    (given, context) => {
      const target = agentId(requireObject(given, 'target'), ['target', 'id']);
      const statesOf = (ids: readonly string[]) => tree.states(threadId, ids);
      return collabAction(
        context,
        { tool: 'closeAgent', receiverThreadIds: [target], statesOf },
        async () => {
          const before = await tree.states(threadId, [target]);
          await tree.close(threadId, target);
          const states = await tree.states(threadId, [target]);
          told(states);
          return {
            output: { previous_status: stateForModel(before.get(target) ?? agentState(null)) },
            states,
          };
        },
      );
    },
  );
}
