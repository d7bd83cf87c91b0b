import { booleanField, checkedTool, requireObject } from '../../../tools/bad-arguments.ts';
import type { Tool } from '../../../tools/tool.ts';
import { agentId } from './agent-id.ts';
import { agentInput, inputParameters, inputText } from './agent-input.ts';
import type { AgentToolDeps } from './agent-tool-deps.ts';
import { collabAction } from './collab-action.ts';

/**
 * `send_input`: gives an agent a further message. It begins a turn of the agent, or joins the
 * running one.
 */
export function sendInput({ tree, threadId, limits, told }: AgentToolDeps): Tool {
  return checkedTool(
    {
      type: 'function',
      name: 'send_input',
      description:
        'Sends a further message to an agent that you have started. If it is working, it reads the message with its next step.',
      parameters: {
        type: 'object',
        properties: {
          target: { type: 'string', description: 'The id of the agent.' },
          ...inputParameters('The message.'),
          interrupt: {
            type: 'boolean',
            description: 'Whether the agent first stops what it is doing. Default: false.',
          },
        },
        required: ['target'],
        additionalProperties: false,
      },
    },
    (given, context) => {
      const args = requireObject(given, 'target');
      const target = agentId(args, ['target', 'id']);
      const input = agentInput(args, context.settings.cwd);
      const interrupt = booleanField(args, 'interrupt') ?? false;
      const statesOf = (ids: readonly string[]) => tree.states(threadId, ids);
      return collabAction(
        context,
        { tool: 'sendInput', receiverThreadIds: [target], prompt: inputText(input), statesOf },
        async () => {
          const turnId = await tree.send(threadId, target, { input, interrupt, limits });
          told(new Map([[target, { status: 'running', turnId }]]));
          return {
            output: { submission_id: turnId },
            states: await tree.states(threadId, [target]),
          };
        },
      );
    },
  );
}
