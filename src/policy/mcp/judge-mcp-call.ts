import type { McpApprovalMode } from '../../config/mcp/mcp-server-config.ts';
import type { AskForApproval, SandboxPolicy } from '../../protocol/generated/types.ts';
import { mayAsk } from '../permissions/may-ask.ts';
import { hasBounds } from '../permissions/sandbox-bounds.ts';

/** The facts about a call that decide whether it needs approval. */
export interface McpCallFacts {
  mode: McpApprovalMode;
  /** The hints of the tool. They come from the server. */
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean } | null;
  /** Whether the user has allowed the tool for the session. */
  isGranted: boolean;
}

/**
 * Whether a call of an MCP tool may run, needs approval, or is refused. With `auto` and `writes`, a tool needs approval unless the server says
 * that it only reads. Where nobody may be asked, such a call runs only without a sandbox.
 */
export function judgeMcpCall(
  { mode, annotations, isGranted }: McpCallFacts,
  { approvalPolicy, sandboxPolicy }: { approvalPolicy: AskForApproval; sandboxPolicy: SandboxPolicy },
): 'run' | 'ask' | { refuse: string } {
  const onlyReads = annotations?.readOnlyHint === true && annotations.destructiveHint !== true;
  if (mode === 'approve' || (mode !== 'prompt' && onlyReads) || (mode === 'auto' && isGranted)) return 'run';
  if (mayAsk(approvalPolicy, 'mcp_elicitations')) return 'ask';
  if (approvalPolicy === 'never' && mode === 'auto' && !hasBounds(sandboxPolicy)) return 'run';
  const why =
    approvalPolicy === 'never' ? 'the approval policy is "never"' : 'the approval policy does not allow questions about MCP tools';
  return { refuse: `This tool requires approval, but ${why}, so it was not called.` };
}
