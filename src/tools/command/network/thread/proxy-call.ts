import type { ProxyRequest } from '../../../../network/command-proxy.ts';
import type { RefusalCode } from '../../../../network/proxy-refusal.ts';
import type { AddressKind } from '../../../../policy/network/address-kind.ts';
import type { NetworkTarget } from '../../../../policy/network/network-target.ts';

/** A `ProxyRefusal` as data. */
export interface RefusalData {
  code: RefusalCode;
  message: string;
}

/** How the main thread has decided about a request. `failed`: it could not. */
export type DecisionData =
  | { reaches: readonly AddressKind[] }
  | { refusal: RefusalData }
  | { failed: string };

/**
 * A call that gets a `ThreadAnswer`. Proxies and listeners have numbers, which the main thread
 * chooses.
 */
export type AnsweredCall =
  | { type: 'listen'; listener: number }
  | { type: 'receive'; listener: number; program: readonly string[]; port: number }
  | { type: 'serve'; listener: number; proxy: number | null; credential: string | null };

/** A message to the thread of the proxies. */
export type ProxyCall =
  | (AnsweredCall & { call: number })
  | { type: 'openProxy'; proxy: number; socks: boolean }
  | { type: 'closeProxy'; proxy: number }
  | { type: 'decided'; question: number; decision: DecisionData }
  | { type: 'endSender'; listener: number }
  | { type: 'closeListener'; listener: number };

/** The outcome of a call. `value` is a port, a process id, or a number of connections. */
export type ThreadAnswer = { call: number; value: number } | { call: number; error: string };

/** A message of the thread of the proxies. */
export type ProxyReply =
  | ({ type: 'answer' } & ThreadAnswer)
  | { type: 'decide'; proxy: number; question: number; request: ProxyRequest }
  | { type: 'gone'; proxy: number; question: number }
  | { type: 'notReached'; proxy: number; target: NetworkTarget; refusal: RefusalData }
  | { type: 'log'; level: 'debug' | 'info' | 'warn' | 'error'; fields: object; text: string };
