import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { orAborted } from '../base/or-aborted.ts';
import { systemErrorCode } from '../base/system-error-code.ts';
import { type AddressKind, addressKind } from '../policy/network/address-kind.ts';
import type { NetworkTarget } from '../policy/network/network-target.ts';
import { readHost } from '../policy/network/read-host.ts';
import { ProxyRefusal } from './proxy-refusal.ts';

/**
 * Connects to a target if all its addresses are of the given kinds. Rejects with a `ProxyRefusal`.
 * If the signal aborts, the connection is given up. All calls of one proxy have the same signal, by
 * which proxies take turns.
 */
export type Dial = (
  target: NetworkTarget,
  reaches: readonly AddressKind[],
  signal: AbortSignal,
) => Promise<Socket>;

export interface DialDeps {
  clock: Clock;
  /** Returns all addresses of a name. Default: as the system resolves it. */
  resolve?: (name: string) => Promise<string[]>;
  /** The addresses of this machine. */
  ownAddresses?: () => readonly string[];
}

const DIAL_MS_MAX = 30_000;
/** The time for an address after which there is another one. */
const ATTEMPT_MS_MAX = 3_000;
/** How long the addresses of this machine are remembered. */
const OWN_ADDRESSES_MS_MAX = 1_000;
/** Each takes a thread of Node's pool, which has four. */
const LOOKUPS_MAX = 3;
/** Those of one proxy. */
const OWN_LOOKUPS_MAX = 2;
const WAITING_LOOKUPS_MAX = 256;

/** Returns a `Dial` that resolves a name once, checks what it got, and connects to exactly that. */
export function checkedDial({
  clock,
  resolve = systemAddresses,
  ownAddresses = interfaceAddresses,
}: DialDeps): Dial {
  const lookups = new LookupQueue(resolve);
  const isOwn = recentAddresses(ownAddresses, clock);
  return async (target, reaches, signal) => {
    const { host, port } = target;
    const over = new AbortController();
    const timer = clock.setTimer(() => over.abort(), DIAL_MS_MAX);
    const ended = AbortSignal.any([signal, over.signal]);
    try {
      const addresses = (
        isIP(host) === 0 ? await lookups.addressesOf(host, signal, ended) : [host]
      ).map(oneSpelling);
      const closed = addresses.find((address) => !reaches.includes(kindOf(address, isOwn)));
      if (closed !== undefined)
        throw new ProxyRefusal('local', `${host} leads to the local address ${closed}.`);
      return await connectToOne(addresses, { port, clock, signal: ended });
    } catch (error) {
      if (ended.aborted && !signal.aborted)
        throw new ProxyRefusal('timeout', `${host} did not answer in time.`, { cause: error });
      throw error;
    } finally {
      timer.clear();
    }
  };
}

/**
 * Of the spellings of an address, such as an IPv6 one that stands for an IPv4 one, all code
 * compares and uses the same.
 */
function oneSpelling(address: string): string {
  // Null: it has a zone, so it is not reached.
  return readHost(address) ?? address;
}

/**
 * A public address of this machine is private: a firewall may protect its services only from
 * outside.
 */
function kindOf(address: string, isOwn: (address: string) => boolean): AddressKind {
  const kind = addressKind(address);
  return kind === 'public' && isOwn(address) ? 'private' : kind;
}

/**
 * Looks at the addresses of this machine at most once in a while: each look costs a millisecond
 * where there are many interfaces.
 */
function recentAddresses(
  ownAddresses: () => readonly string[],
  clock: Clock,
): (address: string) => boolean {
  let looked: { atMs: number; addresses: ReadonlySet<string> } | null = null;
  return (address) => {
    const nowMs = clock.monotonic();
    if (looked === null || nowMs - looked.atMs > OWN_ADDRESSES_MS_MAX)
      looked = { atMs: nowMs, addresses: new Set(ownAddresses().map(oneSpelling)) };
    return looked.addresses.has(address);
  };
}

interface Attempt {
  port: number;
  clock: Clock;
  signal: AbortSignal;
}

/** Tries one address after the other. */
async function connectToOne(
  addresses: readonly string[],
  { port, clock, signal }: Attempt,
): Promise<Socket> {
  let failure: unknown = null;
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    const tooSlow = new AbortController();
    const timer = isLast ? null : clock.setTimer(() => tooSlow.abort(), ATTEMPT_MS_MAX);
    try {
      return await connectTo(address, port, AbortSignal.any([signal, tooSlow.signal]));
    } catch (error) {
      failure = error;
      if (signal.aborted) break;
    } finally {
      timer?.clear();
    }
  }
  const code = systemErrorCode(failure);
  throw new ProxyRefusal(
    code === 'ECONNREFUSED' ? 'connectionRefused' : 'unreachable',
    `The host cannot be reached (${code ?? 'no answer'}).`,
    {
      cause: failure,
    },
  );
}

function connectTo(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new Error('aborted'));
      return;
    }
    const socket = connect({ host, port, allowHalfOpen: true, autoSelectFamily: false });
    const abort = () => socket.destroy(new Error('aborted'));
    signal.addEventListener('abort', abort);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.removeListener('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
    socket.once('close', () => signal.removeEventListener('abort', abort));
  });
}

interface Lookup {
  name: string;
  /** The proxy that has asked first. */
  owner: AbortSignal;
  /** Callers that still want it. */
  wanted: number;
  found: Promise<string[]>;
  begin(): void;
}

/**
 * Resolves few names at a time, and each name once for all that wait for it. The proxies, which are
 * told apart by their signals, take turns, and a name that nobody wants any more is not resolved.
 */
class LookupQueue {
  readonly #resolve: (name: string) => Promise<string[]>;
  readonly #open = new Map<string, Lookup>();
  readonly #running = new Set<Lookup>();
  #waiting: Lookup[] = [];

  constructor(resolve: (name: string) => Promise<string[]>) {
    this.#resolve = resolve;
  }

  /**
   * Rejects with a `ProxyRefusal`, or when one of the signals aborts. The system's lookup itself
   * cannot be aborted.
   */
  async addressesOf(name: string, owner: AbortSignal, ended: AbortSignal): Promise<string[]> {
    const lookup = this.#open.get(name) ?? this.#add(name, owner);
    lookup.wanted++;
    try {
      const addresses = await orAborted(lookup.found, ended);
      if (addresses === null) throw new Error('aborted');
      return addresses;
    } finally {
      lookup.wanted--;
      if (lookup.wanted === 0 && this.#waiting.includes(lookup)) this.#forget(lookup);
    }
  }

  #add(name: string, owner: AbortSignal): Lookup {
    if (this.#waiting.filter((lookup) => lookup.owner === owner).length >= WAITING_LOOKUPS_MAX) {
      throw new ProxyRefusal('busy', 'Too many names are being resolved.');
    }
    let begin = () => {};
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const lookup: Lookup = {
      name,
      owner,
      wanted: 0,
      begin,
      found: turn.then(() => this.#lookUp(name)),
    };
    const ended = () => {
      this.#running.delete(lookup);
      this.#forget(lookup);
      this.#beginNext();
    };
    lookup.found.then(ended, ended);
    this.#open.set(name, lookup);
    this.#waiting.push(lookup);
    this.#beginNext();
    return lookup;
  }

  #forget(lookup: Lookup): void {
    this.#waiting = this.#waiting.filter((other) => other !== lookup);
    if (this.#open.get(lookup.name) === lookup) this.#open.delete(lookup.name);
  }

  /** Begins that of the proxy that has the fewest running. */
  #beginNext(): void {
    if (this.#running.size >= LOOKUPS_MAX) return;
    const running = (lookup: Lookup) =>
      [...this.#running].filter(({ owner }) => owner === lookup.owner).length;
    const may = this.#waiting.filter((lookup) => running(lookup) < OWN_LOOKUPS_MAX);
    const next = may.sort((one, other) => running(one) - running(other))[0];
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((other) => other !== next);
    this.#running.add(next);
    next.begin();
  }

  async #lookUp(name: string): Promise<string[]> {
    try {
      const addresses = await this.#resolve(name);
      if (addresses.length === 0) throw new ProxyRefusal('unresolved', `${name} has no address.`);
      return addresses;
    } catch (error) {
      if (error instanceof ProxyRefusal) throw error;
      throw new ProxyRefusal(
        'unresolved',
        `${name} cannot be resolved (${systemErrorCode(error) ?? 'unknown error'}).`,
        { cause: error },
      );
    }
  }
}

async function systemAddresses(name: string): Promise<string[]> {
  return (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map(({ address }) => address),
  );
}
