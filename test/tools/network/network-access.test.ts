import { expect, test } from 'vitest';
import { KeyedQueue } from '../../../src/base/keyed-queue.ts';
import type { ProxyRequest } from '../../../src/network/command-proxy.ts';
import type { NetworkTarget } from '../../../src/policy/network/network-target.ts';
import { Grants } from '../../../src/policy/permissions/grants.ts';
import { UNCONFINED, type Verdict } from '../../../src/tools/action.ts';
import { NetworkAccess, type NetworkAccessDeps } from '../../../src/tools/command/network/network-access.ts';

const ONCE: Verdict = { allow: UNCONFINED, scope: 'once' };
const SESSION: Verdict = { allow: UNCONFINED, scope: 'session' };
const DECLINED: Verdict = { deny: { by: 'declined' } };
const { signal } = new AbortController();

function to(host: string, port = 443): ProxyRequest {
  return { target: { host, port, protocol: 'https' }, method: null };
}

function access(answer: (target: NetworkTarget) => Verdict | Promise<Verdict>, others: Partial<NetworkAccessDeps> = {}) {
  const asked: string[] = [];
  const paused: string[] = [];
  const told: object[] = [];
  const deps: NetworkAccessDeps = {
    policy: { mode: 'full', domains: [], allowsPrivate: false, socks: true },
    approvalPolicy: 'on-request',
    grants: new Grants(),
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
  return { asked, paused, told, access: new NetworkAccess(deps) };
}

test('an answer holds for the host and port until the command ends, and all who wait get it', async () => {
  const { asked, access: network } = access(() => ONCE);
  const both = await Promise.all([network.decide(to('a.example'), signal), network.decide(to('a.example'), signal)]);
  expect(both).toEqual([['public'], ['public']]);
  await network.decide(to('a.example'), signal);
  await network.decide(to('a.example', 8443), signal);
  expect(asked).toEqual(['a.example:443', 'a.example:8443']);
});

test('an answer that comes while another request reads the rules is the answer to that, too', async () => {
  const answers: ((verdict: Verdict) => void)[] = [];
  const rules: (() => void)[] = [];
  const { asked, access: network } = access(() => new Promise((resolve) => answers.push(resolve)), {
    rules: () => new Promise((resolve) => rules.push(() => resolve({ rules: [], networkRules: [], problems: [] }))),
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
    await expect(network.decide(to('a.example'), signal)).rejects.toMatchObject({ code: 'declined' });
  expect(asked).toEqual(['a.example:443']);
  expect(told).toEqual([{ url: 'https://a.example:443', reason: 'The user did not allow this command to reach a.example.' }]);
});

test('an answer for the session holds for later commands, one for once does not', async () => {
  const grants = new Grants();
  const first = access(({ host }) => (host === 'a.example' ? SESSION : ONCE), { grants });
  await first.access.decide(to('a.example'), signal);
  await first.access.decide(to('b.example'), signal);
  const second = access(() => DECLINED, { grants });
  await second.access.decide(to('a.example'), signal);
  await expect(second.access.decide(to('b.example'), signal)).rejects.toMatchObject({ code: 'declined' });
  expect(second.asked).toEqual(['b.example:443']);
});

test('of several commands that ask for a target, one asks at a time, and an answer for the session serves all', async () => {
  for (const answer of [SESSION, ONCE, DECLINED]) {
    const shared = { grants: new Grants(), questions: new KeyedQueue() };
    const answers: ((verdict: Verdict) => void)[] = [];
    const ask = () => new Promise<Verdict>((resolve) => answers.push(resolve));
    const commands = Array.from({ length: 3 }, () => access(ask, shared));
    const decided = Promise.allSettled(commands.map(({ access: network }) => network.decide(to('a.example'), signal)));
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

test('nothing is asked under `never`', async () => {
  const { asked, access: network } = access(() => ONCE, { approvalPolicy: 'never' });
  await expect(network.decide(to('a.example'), signal)).rejects.toMatchObject({ code: 'notAllowed' });
  expect(asked).toEqual([]);
});

test('only so many questions are open at a time', async () => {
  const { asked, paused, access: network } = access(() => new Promise<Verdict>(() => {}));
  for (let index = 0; index < 16; index++) void network.decide(to(`${index}.example`), signal);
  await expect.poll(() => asked.length).toBe(16);
  expect(new Set(paused)).toEqual(new Set(['pause']));
  await expect(network.decide(to('last.example'), signal)).rejects.toMatchObject({ code: 'busy' });
});
