import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type {
  ServerNotifications,
  ThreadItem,
  Turn,
} from '../../../src/protocol/generated/types.ts';
import type { Message } from '../../support/test-client.ts';
import { twice } from './planned-model.ts';
import { RAN, type TurnPlan } from './turn-plan.ts';

/** A turn that the client has asked for, and what it was told about it. */
export interface KnownTurn {
  readonly plan: TurnPlan;
  /** Null: not answered, or refused. */
  id: string | null;
  /** The answer was an error, with this text. */
  refused: string | null;
  /** Each `turn/completed`. */
  readonly ends: Turn[];
  /** The items that were announced as completed, as they were announced last. */
  readonly completed: Map<string, ThreadItem>;
}

/** A thread that the server has announced. */
export interface KnownThread {
  readonly id: string;
  readonly cwd: string;
  /** In `workspace-write`, its commands need guards in the workspace. */
  readonly sandbox: 'danger-full-access' | 'workspace-write';
  readonly turns: KnownTurn[];
  /** The number of the server that has it loaded. */
  server: number;
}

export interface Reading {
  /** A turn may run; else every turn must have ended. */
  running: boolean;
  /**
   * Turns that the client was not told of may be there: an older or newer state of the database was
   * put in place.
   */
  othersAllowed?: boolean;
}

/** Everything that a client was told about its threads. It must stay true. */
export class Ledger {
  readonly threads = new Map<string, KnownThread>();
  /** The contradictions in the messages themselves. */
  readonly problems: string[] = [];
  readonly #asked = new Map<string, KnownTurn>();

  /** Notes that the client asks for a turn. Returns the id of the request. */
  ask(thread: KnownThread, plan: TurnPlan): { turn: KnownTurn; requestId: string } {
    const turn: KnownTurn = { plan, id: null, refused: null, ends: [], completed: new Map() };
    thread.turns.push(turn);
    this.#asked.set(plan.key, turn);
    return { turn, requestId: plan.key };
  }

  addThread(id: string, settings: Pick<KnownThread, 'cwd' | 'sandbox' | 'server'>): KnownThread {
    const thread: KnownThread = { id, ...settings, turns: [] };
    this.threads.set(id, thread);
    return thread;
  }

  /** Notes a message of a server. */
  see(message: Message): void {
    const { id, method, params } = message;
    if (method === undefined) this.#answered(this.#asked.get(String(id)), message);
    if (method === 'item/completed')
      this.#itemCompleted(params as ServerNotifications['item/completed']);
    if (method === 'turn/completed')
      this.#turnCompleted(params as ServerNotifications['turn/completed']);
  }

  /** The turns that were accepted and whose end was not announced. */
  openTurns(threads: Iterable<KnownThread> = this.threads.values()): KnownTurn[] {
    return [...threads].flatMap(({ turns }) =>
      turns.filter(({ id, ends }) => id !== null && ends.length === 0),
    );
  }

  #answered(turn: KnownTurn | undefined, { result, error }: Message): void {
    if (turn === undefined) return;
    if (error === undefined) turn.id = (result as { turn: Turn }).turn.id;
    else turn.refused = error.message;
  }

  #itemCompleted({ threadId, turnId, item }: ServerNotifications['item/completed']): void {
    const turn = this.#turn(threadId, turnId);
    if (turn === undefined) return;
    if (turn.completed.has(item.id))
      this.problems.push(
        `the item ${item.id} of ${turn.plan.key} was announced as completed twice`,
      );
    turn.completed.set(item.id, item);
  }

  #turnCompleted({ threadId, turn: end }: ServerNotifications['turn/completed']): void {
    const turn = this.#turn(threadId, end.id);
    turn?.ends.push(end);
    if (turn !== undefined && turn.ends.length > 1)
      this.problems.push(`the end of ${turn.plan.key} was announced ${turn.ends.length} times`);
  }

  #turn(threadId: string, turnId: string): KnownTurn | undefined {
    return this.threads.get(threadId)?.turns.find(({ id }) => id === turnId);
  }
}

/** The client's knowledge of a thread now. */
export function knownNow(thread: KnownThread): KnownThread {
  return {
    ...thread,
    turns: thread.turns.map((turn) => ({
      ...turn,
      ends: [...turn.ends],
      completed: new Map(turn.completed),
    })),
  };
}

/** Compares the turns that a server returns with what the client was told about the thread. */
export function problemsOfTurns(
  thread: KnownThread,
  turns: readonly Turn[],
  reading: Reading,
): string[] {
  const ids = turns.map(({ id }) => id);
  const itemIds = turns.flatMap(({ items }) => items.map(({ id }) => id));
  const known = thread.turns.filter(({ id }) => id !== null);
  const unanswered = thread.turns.filter(
    ({ id, refused }) => id === null && refused === null,
  ).length;
  const others = turns.filter(({ id }) => !known.some((turn) => turn.id === id)).length;
  return [
    ...twice(ids).map((id) => `the turn ${id} is there twice`),
    ...twice(itemIds).map((id) => `the item ${id} is there twice`),
    ...(others > unanswered && reading.othersAllowed !== true
      ? [`${others} turns are there that were not accepted`]
      : []),
    ...(reading.running
      ? []
      : turns
          .filter(({ status }) => status === 'inProgress')
          .map(({ id }) => withoutEnd(thread, id))),
    ...known.flatMap((turn) =>
      problemsOfTurn(
        turn,
        turns.find(({ id }) => id === turn.id),
      ),
    ),
  ];
}

function withoutEnd({ id, server, turns }: KnownThread, turnId: string): string {
  const key =
    turns.find((turn) => turn.id === turnId)?.plan.key ?? 'a turn whose start was not answered';
  return `the turn ${turnId} (${key}) of the thread ${id} has no end, as server ${server} reads it`;
}

function problemsOfTurn(turn: KnownTurn, read: Turn | undefined): string[] {
  if (read === undefined) return [`the accepted turn ${turn.plan.key} is missing`];
  return [...problemsOfItems(turn, read), ...problemsOfEnd(turn, read)];
}

function problemsOfItems({ plan: { key }, completed }: KnownTurn, { items }: Turn): string[] {
  return [...completed].flatMap(([id, item]) => {
    const found = items.find((one) => one.id === id);
    if (found === undefined) return [`the announced ${item.type} ${id} of ${key} is missing`];
    return isDeepStrictEqual(found, item)
      ? []
      : [`the announced ${item.type} of ${key} differs: ${differing(item, found)}`];
  });
}

function problemsOfEnd(
  { plan: { key }, ends: [end], completed }: KnownTurn,
  { status, items }: Turn,
): string[] {
  if (end === undefined) return [];
  // The end of a turn that failed because the store failed is stored when the store works again, or
  // never.
  const same = status === end.status || (end.status === 'failed' && status === 'interrupted');
  const unannounced = items.filter(({ id }) => !completed.has(id)).map(({ type }) => type);
  return [
    ...(same ? [] : [`${key} ended ${end.status}, and is read as ${status}`]),
    ...(end.status === 'completed' && unannounced.length > 0
      ? [`${key} has items that were not announced: ${unannounced.join(' ')}`]
      : []),
  ];
}

function differing(announced: ThreadItem, found: ThreadItem): string {
  const names = Object.keys({ ...announced, ...found }) as (keyof ThreadItem)[];
  const name = names.find((one) => !isDeepStrictEqual(announced[one], found[one]));
  if (name === undefined) return 'nothing';
  return `${name} ${JSON.stringify(announced[name])?.slice(0, 100)} and ${JSON.stringify(found[name])?.slice(0, 100)}`;
}

/** Compares a workspace with what the client was told about commands and patches. */
export function problemsOfWorkspace({ cwd, turns }: KnownThread): string[] {
  const log = join(cwd, RAN);
  const ran = existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
  return [
    ...twice(ran).map((token) => `the command ${token} ran twice`),
    ...turns.flatMap((turn) => problemsOfEffects(turn, ran)),
  ];
}

function problemsOfEffects({ plan, completed }: KnownTurn, ran: readonly string[]): string[] {
  return [...completed.values()].flatMap((item) => {
    if (item.type === 'commandExecution')
      return item.exitCode === 0 ? problemsOfCommand(plan, item.command, ran) : [];
    if (item.type !== 'fileChange' || item.status !== 'completed') return [];
    return item.changes.flatMap(({ path }) => problemsOfPatch(plan, path));
  });
}

function problemsOfCommand(
  { key, tokens }: TurnPlan,
  command: string,
  ran: readonly string[],
): string[] {
  const token = tokens.find((one) => command.includes(`echo ${one} `));
  return token !== undefined && ran.includes(token)
    ? []
    : [`the command of ${key} did not run: ${command}`];
}

function problemsOfPatch({ key, patches }: TurnPlan, path: string): string[] {
  const expected = [...patches.values()].find((patch) => patch.path === path)?.content;
  return existsSync(path) && readFileSync(path, 'utf8') === expected
    ? []
    : [`the patch of ${key} is not in ${path}`];
}
