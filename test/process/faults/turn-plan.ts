import { join } from 'node:path';
import { completed, created, message } from '../../model/provider-server.ts';
import type { Random } from '../hostile/random.ts';

/** A point at which the model says nothing more until the test lets it go on. */
export const STALL = 'stall';

/** The beginning of every user's message. */
export const KEY_START = 'turn-';

export type PlanStep = object | typeof STALL;

/** The steps of the model in one turn. */
export interface TurnPlan {
  /** The user's message, which no other turn has. */
  key: string;
  /** The events of each response. The last one calls no tool. */
  responses: PlanStep[][];
  /** A line for each command, which the command appends to `ran`. */
  tokens: string[];
  /** The files that patches add, with their contents, by the id of the call. */
  patches: Map<string, { path: string; content: string }>;
  /** Whether a command runs until it is killed. */
  endless: boolean;
  /** Whether the model sends each event by itself. */
  eventByEvent: boolean;
}

/** The file in a workspace to which commands append a line each. */
export const RAN = 'ran';

const OUTPUT_LINES_MAX = 3_000;

export interface PlanOptions {
  key: string;
  cwd: string;
  /** Whether the model may stall, or call a command that does not end. */
  mayHang: boolean;
  /** Without tools. */
  plain?: boolean;
}

/** Chooses what the model does in a turn. */
export function planTurn(
  random: Random,
  { key, cwd, mayHang, plain = false }: PlanOptions,
): TurnPlan {
  const plan = emptyPlan(key, random.chance(0.5));
  const rounds = plain
    ? 0
    : random.weighted([
        { weight: 3, rounds: 0 },
        { weight: 4, rounds: 1 },
        { weight: 2, rounds: 2 },
      ]).rounds;
  for (let round = 0; round < rounds; round++) {
    const calls = Array.from({ length: random.between(1, 3) }, (_, call) =>
      random.chance(0.3)
        ? patchCall(plan, cwd, `${round}-${call}`)
        : commandCall(plan, random, { name: `${round}-${call}`, mayHang }),
    );
    plan.responses.push(whole([...words(plan, random, round), ...calls.flat()]));
  }
  plan.responses.push(whole(words(plan, random, rounds)));
  if (mayHang && random.chance(0.3)) {
    const response = random.pick(plan.responses);
    response.splice(random.between(0, response.length - 1), 0, STALL);
  }
  return plan;
}

/** A turn that says something, after one command if it is to run one. */
export function planCheck(key: string, { command }: { command: boolean }): TurnPlan {
  const plan = emptyPlan(key, false);
  const token = `${key}-check`;
  if (command) {
    plan.tokens.push(token);
    plan.responses.push(whole(call('exec_command', { cmd: append(token), login: false }, token)));
  }
  plan.responses.push(whole(message(`${key} works`, `msg_${key}`)));
  return plan;
}

/** A turn that makes one call and ends. */
export function planCall(key: string, tool: string, args: object): TurnPlan {
  const plan = emptyPlan(key, false);
  plan.responses.push(whole(call(tool, args, `${key}-call`)));
  plan.responses.push(whole(message(`${key} has called`, `msg_${key}`)));
  return plan;
}

function emptyPlan(key: string, eventByEvent: boolean): TurnPlan {
  return { key, responses: [], tokens: [], patches: new Map(), endless: false, eventByEvent };
}

function whole(events: object[]): PlanStep[] {
  return [created, ...events, completed];
}

function words({ key }: TurnPlan, random: Random, round: number): object[] {
  const count = random.between(0, 2);
  return Array.from({ length: count }, (_, index) => {
    const [added, , done] = message(
      `${key} says ${round} ${index}`,
      `msg_${key}_${round}_${index}`,
    );
    const deltas = [`${key} says `, `${round} `, `${index}`].map((delta) => ({
      type: 'response.output_text.delta',
      item_id: `msg_${key}_${round}_${index}`,
      output_index: 0,
      delta,
    }));
    return [added as object, ...deltas, done as object];
  }).flat();
}

function commandCall(
  plan: TurnPlan,
  random: Random,
  { name, mayHang }: { name: string; mayHang: boolean },
): object[] {
  const token = `${plan.key}-${name}`;
  plan.tokens.push(token);
  const { more, endless = false } = random.weighted([
    { weight: 6, more: `echo out ${token}` },
    { weight: 2, more: `seq ${random.between(1, OUTPUT_LINES_MAX)}` },
    { weight: 1, more: 'exit 3' },
    { weight: mayHang ? 1 : 0, more: 'sleep 1000', endless: true },
  ]);
  if (endless) plan.endless = true;
  return call(
    'exec_command',
    { cmd: `${append(token)}; ${more}`, login: false, yield_time_ms: 30_000 },
    token,
  );
}

function append(token: string): string {
  return `echo ${token} >> ${RAN}`;
}

function patchCall(plan: TurnPlan, cwd: string, name: string): object[] {
  const callId = `${plan.key}-${name}`;
  const file = `patched-${callId}`;
  plan.patches.set(callId, { path: join(cwd, file), content: `${callId}\n` });
  const input = `*** Begin Patch\n*** Add File: ${file}\n+${callId}\n*** End Patch`;
  const item = {
    type: 'custom_tool_call',
    id: `ctc_${callId}`,
    call_id: callId,
    name: 'apply_patch',
    input,
  };
  return begunAndDone(item, { ...item, input: '' });
}

function call(name: string, args: object, callId: string): object[] {
  const item = {
    type: 'function_call',
    id: `fc_${callId}`,
    call_id: callId,
    name,
    arguments: JSON.stringify(args),
  };
  return begunAndDone(item, { ...item, arguments: '' });
}

function begunAndDone(item: object, begun: object): object[] {
  return [
    { type: 'response.output_item.added', output_index: 0, item: begun },
    { type: 'response.output_item.done', output_index: 0, item },
  ];
}
