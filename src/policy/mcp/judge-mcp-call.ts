import type { McpApprovalMode } from '../../config/mcp/mcp-server-config.ts';
import type { AskForApproval, SandboxPolicy } from '../../protocol/generated/types.ts';
import { whyNotAsked } from '../approvals/may-ask.ts';
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
 * Whether a call of an MCP tool may run, needs approval, or is refused. With `auto` and `writes`, a
 * tool needs approval unless the server says that it only reads. Where nobody may be asked, such a
 * call runs only without a sandbox.
 */
export function judgeMcpCall(
  { mode, annotations, isGranted }: McpCallFacts,
  {
    approvalPolicy,
    sandboxPolicy,
  }: { approvalPolicy: AskForApproval; sandboxPolicy: SandboxPolicy },
): 'run' | 'ask' | { refuse: string } {
  const onlyReads = annotations?.readOnlyHint === true && annotations.destructiveHint !== true;
  if (mode === 'approve' || (mode !== 'prompt' && onlyReads) || (mode === 'auto' && isGranted))
    return 'run';
  const why = whyNotAsked(approvalPolicy, 'mcp_elicitations');
  if (why === null) return 'ask';
  if (approvalPolicy === 'never' && mode === 'auto' && !hasBounds(sandboxPolicy)) return 'run';
  return { refuse: `This tool requires approval, but ${why}, so it was not called.` };
}
