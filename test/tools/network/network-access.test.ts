import { describe, expect, test } from 'vitest';
import { KeyedQueue } from '../../../src/base/keyed-queue.ts';
import type { ProxyRequest } from '../../../src/network/command-proxy.ts';
import type { NetworkTarget } from '../../../src/policy/network/network-target.ts';
import { SessionGrants } from '../../../src/policy/permissions/session-grants.ts';
import { UNCONFINED, type Verdict } from '../../../src/tools/action.ts';
import {
  NetworkAccess,
  type NetworkAccessOptions,
} from '../../../src/tools/command/network/network-access.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const ONCE: Verdict = { allow: UNCONFINED, scope: 'once' };
const SESSION: Verdict = { allow: UNCONFINED, scope: 'session' };
const DECLINED: Verdict = { deny: { by: 'declined' } };
const { signal } = new AbortController();

function to(host: string, port = 443): ProxyRequest {
  return { target: { host, port, protocol: 'https' }, method: null };
}

function access(
  answer: (target: NetworkTarget) => Verdict | Promise<Verdict>,
  others: Partial<NetworkAccessOptions> = {},
) {
  const asked: string[] = [];
  const paused: string[] = [];
  const told: object[] = [];
  const clock = new FakeClock();
  const deps: NetworkAccessOptions = {
    clock,
    policy: { mode: 'full', domains: [], allowsPrivate: false, socks: true },
    approvalPolicy: 'on-request',
    grants: new SessionGrants(),
    rules: async () => ({ rules: [], networkRules: [], problems: [] }),
    questions: null,
    async ask({ target }) {
      asked.push(`${target.host}:${target.port}`);
      return answer(target);
    },
    whileAsking: { pause: () => paused.push('pause'), resume: () => paused.push('resume') },
    tell: (refused) => told.push(refused),
    ...others,
  };
  return { asked, paused, told, clock, access: new NetworkAccess(deps) };
}

test('an answer holds for the host and port until the command ends, and all who wait get it', async () => {
  const { asked, access: network } = access(() => ONCE);
  const both = await Promise.all([
    network.decide(to('a.example'), signal),
    network.decide(to('a.example'), signal),
  ]);
  expect(both).toEqual([['public'], ['public']]);
  await network.decide(to('a.example'), signal);
  await network.decide(to('a.example', 8443), signal);
  expect(asked).toEqual(['a.example:443', 'a.example:8443']);
});

test('an answer that comes while another request reads the rules is the answer to that, too', async () => {
  const answers: ((verdict: Verdict) => void)[] = [];
  const rules: (() => void)[] = [];
  const { asked, access: network } = access(() => new Promise((resolve) => answers.push(resolve)), {
    rules: () =>
      new Promise((resolve) =>
        rules.push(() => resolve({ rules: [], networkRules: [], problems: [] })),
      ),
  });
  const first = network.decide(to('a.example'), signal).catch((error: unknown) => error);
  const readRules = () => {
    for (const read of rules.splice(0)) read();
    return answers.length;
  };
  await expect.poll(readRules).toBe(1);
  const second = network.decide(to('a.example'), signal).catch((error: unknown) => error);
  await expect.poll(() => rules.length).toBe(1);
  answers[0]?.(DECLINED);
  await first;
  rules[0]?.();
  expect(await second).toMatchObject({ code: 'declined' });
  expect(asked).toEqual(['a.example:443']);
});

test('a refusal is not asked about again, and the model is told of it once', async () => {
  const { asked, told, access: network } = access(() => DECLINED);
  for (let attempt = 0; attempt < 3; attempt++)
    await expect(network.decide(to('a.example'), signal)).rejects.toMatchObject({
      code: 'declined',
    });
  expect(asked).toEqual(['a.example:443']);
  expect(told).toEqual([
    {
      url: 'https://a.example:443',
      reason: 'The user did not allow this command to reach a.example.',
    },
  ]);
});

test('an answer for the session holds for later commands, one for once does not', async () => {
  const grants = new SessionGrants();
  const first = access(({ host }) => (host === 'a.example' ? SESSION : ONCE), { grants });
  await first.access.decide(to('a.example'), signal);
  await first.access.decide(to('b.example'), signal);
  const second = access(() => DECLINED, { grants });
  await second.access.decide(to('a.example'), signal);
  await expect(second.access.decide(to('b.example'), signal)).rejects.toMatchObject({
    code: 'declined',
  });
  expect(second.asked).toEqual(['b.example:443']);
});

test('of several commands that ask for a target, one asks at a time, and an answer for the session serves all', async () => {
  for (const answer of [SESSION, ONCE, DECLINED]) {
    const shared = { grants: new SessionGrants(), questions: new KeyedQueue() };
    const answers: ((verdict: Verdict) => void)[] = [];
    const ask = () => new Promise<Verdict>((resolve) => answers.push(resolve));
    const commands = Array.from({ length: 3 }, () => access(ask, shared));
    const decided = Promise.allSettled(
      commands.map(({ access: network }) => network.decide(to('a.example'), signal)),
    );
    await expect.poll(() => answers.length).toBe(1);
    const other = commands[1]?.access.decide(to('b.example'), signal);
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.(ONCE);
    await other;
    answers[0]?.(answer);
    for (let count = 3; answer !== SESSION && count <= 4; count++) {
      await expect.poll(() => answers.length).toBe(count);
      answers[count - 1]?.(answer);
    }
    expect((await decided).map(({ status }) => status)).toEqual(
      Array.from({ length: 3 }, () => (answer === DECLINED ? 'rejected' : 'fulfilled')),
    );
    expect(answers).toHaveLength(answer === SESSION ? 2 : 4);
    for (const { paused } of commands) expect(paused.at(-1)).toBe('resume');
  }
});

describe('a question whose connections are gone', () => {
  const waiting = () => {
    const signals: AbortSignal[] = [];
    const answers: ((verdict: Verdict) => void)[] = [];
    const { access: network, ...others } = access(() => ONCE, {
      ask: (_question, withdrawn) =>
        new Promise((resolve) => {
          signals.push(withdrawn);
          answers.push(resolve);
        }),
    });
    const connect = () => {
      const gone = new AbortController();
      return {
        gone,
        decided: network.decide(to('a.example'), gone.signal).catch((error: unknown) => error),
      };
    };
    return { ...others, network, signals, answers, connect };
  };

  test('is withdrawn when none has come back for ten seconds, and a later connection is asked about again', async () => {
    const { signals, answers, connect, clock, paused, told } = waiting();
    const [first, second] = [connect(), connect()];
    await expect.poll(() => signals.length).toBe(1);
    first.gone.abort();
    expect(await first.decided).toMatchObject({ code: 'busy' });
    clock.advance(60_000);
    expect(signals[0]?.aborted).toBe(false);
    second.gone.abort();
    await second.decided;
    clock.advance(9_999);
    expect(signals[0]?.aborted).toBe(false);
    clock.advance(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(paused).toEqual(['pause', 'resume']);
    answers[0]?.({ deny: { by: 'unanswered' } });
    const third = connect();
    await expect.poll(() => signals.length).toBe(2);
    answers[1]?.(ONCE);
    expect(await third.decided).toEqual(['public']);
    expect(told).toEqual([]);
  });

  test('stays open for one that comes back in time', async () => {
    const { signals, answers, connect, clock } = waiting();
    for (let attempt = 0; attempt < 3; attempt++) {
      const { gone, decided } = connect();
      await expect.poll(() => signals.length).toBe(1);
      gone.abort();
      await decided;
      clock.advance(9_000);
    }
    const last = connect();
    answers[0]?.(ONCE);
    expect(await last.decided).toEqual(['public']);
    expect(signals).toHaveLength(1);
  });

  test('counts when it is answered meanwhile', async () => {
    const { signals, answers, connect } = waiting();
    const first = connect();
    await expect.poll(() => signals.length).toBe(1);
    first.gone.abort();
    await first.decided;
    answers[0]?.(DECLINED);
    await expect.poll(() => connect().decided).toMatchObject({ code: 'declined' });
    expect(signals).toHaveLength(1);
  });

  test('is withdrawn at once when the proxy closes', async () => {
    const { network, signals, connect } = waiting();
    const { decided } = connect();
    await expect.poll(() => signals.length).toBe(1);
    network.close();
    expect(signals[0]?.aborted).toBe(true);
    void decided;
  });
});

test('nothing is asked under `never`', async () => {
  const { asked, access: network } = access(() => ONCE, { approvalPolicy: 'never' });
  await expect(network.decide(to('a.example'), signal)).rejects.toMatchObject({
    code: 'notAllowed',
  });
  expect(asked).toEqual([]);
});

test('only so many questions are open at a time', async () => {
  const { asked, paused, access: network } = access(() => new Promise<Verdict>(() => {}));
  for (let index = 0; index < 16; index++)
    void network.decide(to(`${index}.example`), new AbortController().signal);
  await expect.poll(() => asked.length).toBe(16);
  expect(new Set(paused)).toEqual(new Set(['pause']));
  await expect(network.decide(to('last.example'), signal)).rejects.toMatchObject({ code: 'busy' });
});
