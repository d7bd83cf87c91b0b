import { showText } from '../../../base/text/show-text.ts';
import type {
  CommandExecutionApprovalDecision,
  FileChangeApprovalDecision,
} from '../../../protocol/generated/types.ts';
import type { Approve } from '../exec-options.ts';
import type { Choice } from './dialogs.ts';

/** The plain decisions of the protocol, in the order in which they are offered. */
const LABELS: Record<FileChangeApprovalDecision, { key: string; label: string }> = {
  accept: { key: 'y', label: 'yes' },
  acceptForSession: { key: 's', label: 'yes, and the same again in this session without asking' },
  decline: { key: 'n', label: 'no; the agent goes on' },
  cancel: { key: 'c', label: 'no, and end the turn' },
};

export const PLAIN_DECISIONS = Object.keys(LABELS) as FileChangeApprovalDecision[];

/** The choices for decisions, each with a key of its own. */
export function decisionChoices<T extends CommandExecutionApprovalDecision>(
  decisions: readonly T[],
): Choice<T>[] {
  const taken = new Set<string>();
  return decisions.map((value, index) => {
    const { key, label } = choiceOf(value);
    const own = taken.has(key) ? `${index + 1}` : key;
    taken.add(own);
    return { key: own, label, value };
  });
}

function choiceOf(decision: CommandExecutionApprovalDecision): { key: string; label: string } {
  if (typeof decision === 'string') return LABELS[decision];
  if ('acceptWithExecpolicyAmendment' in decision) {
    const { execpolicy_amendment: words } = decision.acceptWithExecpolicyAmendment;
    return {
      key: 'a',
      label: `yes, and from now on in this project commands that begin with: ${showText(words.join(' '))}`,
    };
  }
  const { host, action } = decision.applyNetworkPolicyAmendment.network_policy_amendment;
  return action === 'allow'
    ? { key: 'a', label: `yes, and this host from now on: ${showText(host)}` }
    : { key: 'x', label: `no, and never this host: ${showText(host)}` };
}

/**
 * The decision that `--approve` asks for, or the nearest one that is offered and allows no more.
 * `decline` is always offered.
 */
export function decisionFor<T>(approve: Exclude<Approve, 'ask'>, choices: readonly Choice<T>[]): T {
  const wanted =
    approve === 'acceptForSession' ? [approve, 'accept', 'decline'] : [approve, 'decline'];
  for (const decision of wanted) {
    const choice = choices.find(({ value }) => value === decision);
    if (choice !== undefined) return choice.value;
  }
  throw new Error(`none of the decisions that are offered is ${wanted.join(', ')}`);
}
