import { hasBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { Action, Judgement } from '../../tools/action.ts';
import type { Tool } from '../../tools/tool.ts';

const NOT_IN_REVIEW =
  'Rejected: a review changes nothing, and asks nobody for approval. Read within the sandbox.';

/**
 * The tool for a reviewer: its commands run in the sandbox as under a read-only policy, whatever
 * rules and grants allow. It asks for no approval and applies no patch. If the settings have no
 * sandbox, because the client or the user confines the server, commands run as they do in other
 * turns.
 */
export function readOnlyTool(tool: Tool): Tool {
  return {
    ...tool,
    prepare: async (args, context) => {
      const prepared = await tool.prepare(args, context);
      return 'perform' in prepared ? readOnlyAction(prepared) : prepared;
    },
  };
}

function readOnlyAction(action: Action): Action {
  return {
    kind: action.kind,
    item: action.item,
    judge: async (settings, grants): Promise<Judgement> => {
      if (action.kind === 'patch' || action.kind === 'permissions')
        return { refuse: NOT_IN_REVIEW };
      const judged = await action.judge(settings, grants);
      if ('ask' in judged) return { refuse: NOT_IN_REVIEW };
      if ('refuse' in judged || action.kind !== 'command' || !hasBounds(settings.sandboxPolicy))
        return judged;
      return { run: { sandboxed: true, readOnly: true, askIfRefused: false } };
    },
    perform: (permit, shown, host) => action.perform(permit, shown, host),
    refused: (denial) => action.refused(denial),
    close: async () => action.close?.(),
  };
}
