import { isIP } from 'node:net';
import type { AskForApproval } from '../../protocol/generated/types.ts';
import { type ApprovalKind, mayAsk } from '../approvals/may-ask.ts';
import { type AddressKind, addressKind } from './address-kind.ts';
import { matchesDomain } from './domain-pattern.ts';
import { allowsExactly } from './host-loopback.ts';
import type { NetworkPolicy } from './network-policy.ts';
import { coversPort, type NetworkRule, ruleProtocol } from './network-rule.ts';
import type { NetworkTarget } from './network-target.ts';

/**
 * Why a connection is refused: a list denies it, it leads to a local address, no list allows it, or
 * the mode refuses its kind.
 */
export type TargetRefusal = 'denied' | 'local' | 'notAllowed' | 'mode';

/**
 * `reaches`: the kinds of addresses that the host may have. If it has another one, the connection
 * is refused. `settles`: whether a rule that allows the host would make the question unnecessary.
 */
export type TargetVerdict =
  | { verdict: 'allow'; reaches: readonly AddressKind[] }
  | { verdict: 'ask'; reason: string; settles: boolean; reaches: readonly AddressKind[] }
  | { verdict: 'refuse'; by: TargetRefusal; reason: string };

/** Everything that the decision about a target depends on. */
export interface TargetSituation {
  policy: NetworkPolicy;
  /** Null: nobody is asked about this command. */
  approvalPolicy: AskForApproval | null;
  rules: readonly NetworkRule[];
  /** Whether a part of the rules files cannot be read. It may forbid any host. */
  hasProblems: boolean;
  /** Whether a person allowed this target, for the session or for this command. */
  isGranted: boolean;
  /** The method of a plain request. Null: it is a tunnel. */
  method: string | null;
}

const LIMITED_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const EVERYWHERE: readonly AddressKind[] = ['public', 'private', 'reserved'];

/**
 * Decides about a connection, in this order: the mode, lists and rules that deny, local addresses,
 * grants, rules that require approval, lists and rules that allow, the approval policy. A local
 * address is never asked about. Of several policies, the strictest verdict counts.
 */
export function judgeTarget(target: NetworkTarget, situation: TargetSituation): TargetVerdict {
  const { also = [], ...policy } = situation.policy;
  return [policy, ...also]
    .map((each) => judgeByOne(target, { ...situation, policy: each }))
    .reduce(stricter);
}

function stricter(one: TargetVerdict, other: TargetVerdict): TargetVerdict {
  if (one.verdict === 'refuse') return one;
  if (other.verdict === 'refuse') return other;
  const reaches = one.reaches.filter((kind) => other.reaches.includes(kind));
  if (one.verdict === 'allow') return { ...other, reaches };
  return { ...one, reaches, settles: one.settles && (other.verdict === 'allow' || other.settles) };
}

function judgeByOne(target: NetworkTarget, situation: TargetSituation): TargetVerdict {
  const { host } = target;
  const { policy, method } = situation;
  if (policy.mode === 'limited' && (method === null || !LIMITED_METHODS.has(method)))
    return refuse('mode', LIMITED);
  const strict = strictestRule(target, situation.rules);
  const isListed = (access: 'allow' | 'deny') =>
    policy.domains.some((entry) => entry.access === access && matchesDomain(host, entry.pattern));
  if (isListed('deny')) return refuse('denied', `The configuration denies ${host}.`);
  if (strict?.decision === 'deny')
    return refuse('denied', `A rule denies ${host}${because(strict)}.`);
  const reaches = reachable(host, { policy, isNamed: strict?.decision === 'allow' });
  if (!reaches.includes(literalKind(host))) return refuse('local', `${host} is a local address.`);
  if (situation.isGranted) return { verdict: 'allow', reaches };
  return judgeOpen(target, situation, {
    strict,
    reaches,
    isAllowed: isListed('allow') || strict?.decision === 'allow',
  });
}

/** Decides about a target that nothing denies and no person has allowed. */
function judgeOpen(
  { host, port, protocol }: NetworkTarget,
  situation: TargetSituation,
  {
    strict,
    reaches,
    isAllowed,
  }: { strict: NetworkRule | null; reaches: readonly AddressKind[]; isAllowed: boolean },
): TargetVerdict {
  const prompts =
    strict?.decision === 'prompt'
      ? `A rule requires approval for ${host}${because(strict)}.`
      : null;
  const doubt = prompts ?? (situation.hasProblems ? UNREADABLE : null);
  if (doubt === null && isAllowed) return { verdict: 'allow', reaches };
  const kinds = [
    ...(doubt === null ? [] : (['rules'] as const)),
    ...(isAllowed ? [] : (['sandbox_approval'] as const)),
  ];
  const reason = doubt ?? `Nothing allows ${host} yet.`;
  return byPerson(situation, {
    reaches,
    reason,
    kinds,
    settles: doubt === null && coversPort(protocol, port),
  });
}

/**
 * The kind that a host must have at least, as far as its text tells. The addresses of a name are
 * checked when it is resolved.
 */
function literalKind(host: string): AddressKind {
  if (isLocalName(host)) return 'private';
  return isIP(host) === 0 ? 'public' : addressKind(host);
}

/** Names that always lead to this machine (RFC 6761). */
function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

/**
 * An address, or `localhost`, that the configuration allows by exactly this text is open, and so is
 * one that a rule allows (`isNamed`). A name never opens what it leads to.
 */
function reachable(
  host: string,
  { policy, isNamed }: { policy: NetworkPolicy; isNamed: boolean },
): readonly AddressKind[] {
  const isExact = isNamed || allowsExactly(policy, host);
  if (isExact && isIP(host) !== 0) return EVERYWHERE;
  return policy.allowsPrivate || (isExact && isLocalName(host))
    ? ['public', 'private']
    : ['public'];
}

/**
 * A rule that denies or asks is about its host, however it is reached. One that allows is about its
 * protocol and that one's port.
 */
function strictestRule(
  { host, port, protocol }: NetworkTarget,
  rules: readonly NetworkRule[],
): NetworkRule | null {
  const ofHost = rules.filter((rule) => rule.host === host);
  const allows = (rule: NetworkRule) =>
    rule.decision === 'allow' &&
    rule.protocol === ruleProtocol(protocol) &&
    coversPort(protocol, port);
  return (
    ofHost.find(({ decision }) => decision === 'deny') ??
    ofHost.find(({ decision }) => decision === 'prompt') ??
    ofHost.find(allows) ??
    null
  );
}

interface Question {
  reaches: readonly AddressKind[];
  reason: string;
  settles: boolean;
  /** The kinds of approval that it is. */
  kinds: readonly ApprovalKind[];
}

function byPerson(
  { approvalPolicy }: TargetSituation,
  { kinds, ...question }: Question,
): TargetVerdict {
  const { reason } = question;
  if (approvalPolicy === null) return refuse('notAllowed', `${reason} ${NOBODY}`);
  if (kinds.every((kind) => mayAsk(approvalPolicy, kind))) return { verdict: 'ask', ...question };
  return refuse('notAllowed', `${reason} ${approvalPolicy === 'never' ? NEVER : NO_APPROVALS}`);
}

function refuse(by: TargetRefusal, reason: string): TargetVerdict {
  return { verdict: 'refuse', by, reason };
}

function because({ justification }: NetworkRule): string {
  return justification === null ? '' : ` (${justification})`;
}

const LIMITED = 'The network is limited to GET, HEAD and OPTIONS requests over plain HTTP.';
const UNREADABLE =
  'A rules file cannot be read, so heddle cannot tell whether a rule denies this host.';
const NOBODY = 'Nobody is asked about commands that a client starts itself.';
const NEVER = 'The approval policy is never, so nobody can be asked.';
const NO_APPROVALS = 'The approval policy does not allow heddle to ask.';
