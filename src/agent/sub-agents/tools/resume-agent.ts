import { checkedTool, requireObject } from '../../../tools/bad-arguments.ts';
import type { Tool } from '../../../tools/tool.ts';
import { agentState } from '../../lineage/agent-state.ts';
import { stateForModel } from '../shown-state.ts';
import { agentId } from './agent-id.ts';
import type { AgentToolDeps } from './agent-tool-deps.ts';
import { collabAction } from './collab-action.ts';

/** `resume_agent`: opens an agent again that was closed. */
export function resumeAgent({ tree, threadId, limits, told }: AgentToolDeps): Tool {
  return checkedTool(
    {
      type: 'function',
      name: 'resume_agent',
      description:
        'Opens an agent again that you have closed, with everything that it has read and done. Then send it a message with send_input.',
      parameters: {
        type: 'object',
        properties: { id: { type: 'string', description: 'The id of the agent.' } },
        required: ['id'],
        additionalProperties: false,
      },
    },
    (given, context) => {
      const id = agentId(requireObject(given, 'id'), ['id', 'target']);
      const statesOf = (ids: readonly string[]) => tree.states(threadId, ids);
      return collabAction(
        context,
        { tool: 'resumeAgent', receiverThreadIds: [id], statesOf },
        async () => {
          await tree.reopen(threadId, id, limits);
          const states = await tree.states(threadId, [id]);
          told(states);
          return { output: { status: stateForModel(states.get(id) ?? agentState(null)) }, states };
        },
      );
    },
  );
}
