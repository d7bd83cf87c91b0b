import type { Tool } from '../tool.ts';
import type { ClientTool } from './client-tool.ts';
import { ClientToolAction, type ClientToolOptions } from './client-tool-action.ts';

/** A tool for the model that a client runs. */
export function createClientTool(declared: ClientTool, deps: ClientToolOptions): Tool {
  const { namespace, name, description, inputSchema, isDeferred } = declared;
  return {
    spec: {
      type: 'function',
      ...(namespace !== null && { namespace }),
      name,
      description,
      parameters: inputSchema,
    },
    ...(isDeferred && { isDeferred }),
    prepare: async (args, context) => new ClientToolAction(declared, args, { context, deps }),
  };
}
