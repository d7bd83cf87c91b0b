import type { Tool } from '../../../tools/tool.ts';
import type { AgentToolDeps } from './agent-tool-deps.ts';
import { agentId, fields, message, optionalFlag } from './bad-arguments.ts';
import { agentTool, collabAction } from './collab-action.ts';

/** `send_input`: gives an agent a further message. It begins a turn of the agent, or joins the running one. */
export function sendInput({ tree, threadId, limits }: AgentToolDeps): Tool {
  return agentTool(
    {
      type: 'function',
      name: 'send_input',
      description: 'Sends a further message to an agent that you have started. If it is working, it reads the message with its next step.',
      parameters: {
        type: 'object',
        properties: {
          target: { type: 'string', description: 'The id of the agent.' },
          message: { type: 'string', description: 'The message.' },
          interrupt: { type: 'boolean', description: 'Whether the agent first stops what it is doing. Default: false.' },
        },
        required: ['target', 'message'],
        additionalProperties: false,
      },
    },
    (given, context) => {
      const args = fields(given);
      const target = agentId(args, ['target', 'id']);
      const prompt = message(args);
      const interrupt = optionalFlag(args, 'interrupt');
      const statesOf = (ids: readonly string[]) => tree.states(threadId, ids);
      return collabAction(context, { tool: 'sendInput', receiverThreadIds: [target], prompt, statesOf }, async () => {
        const turnId = await tree.send(threadId, target, { input: [{ type: 'text', text: prompt, text_elements: [] }], interrupt, limits });
        return { output: { submission_id: turnId }, states: await tree.states(threadId, [target]) };
      });
    },
  );
}
