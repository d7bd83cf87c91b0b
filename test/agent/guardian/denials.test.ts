import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Denials } from '../../../src/agent/guardian/denials.ts';
import type { Judged } from '../../../src/agent/guardian/judged.ts';
import { withoutSpelling } from '../../../src/agent/guardian/without-spelling.ts';
import { message, response } from '../../support/test-model.ts';
import { completed, THREAD } from '../../tools/command-server.ts';
import { ALLOW, assesses, DENY, guarded, reviewsCompleted, runsAs } from './guardian-server.ts';

const ends = response(message('done'));
const judged = (status: Judged['status'], hasFailed = false): Judged => ({
  status,
  riskLevel: 'high',
  userAuthorization: 'low',
  rationale: 'Because.',
  hasFailed,
});
const PLACE = { sessionId: 's', rootTurnId: 't' };

describe('an action that was denied', () => {
  test.each([
    ['denied', false, 1],
    ['approved', false, 3],
    ['denied', true, 3],
    ['timedOut', true, 3],
    ['aborted', true, 3],
  ] as const)(
    '%s (failed: %j): equal actions that are reviewed together are reviewed %d times',
    async (status, hasFailed, times) => {
      const denials = new Denials();
      let [reviews, together] = [0, 0];
      const review = async () => {
        reviews++;
        together++;
        await Promise.resolve();
        expect(together).toBe(1);
        together--;
        return judged(status, hasFailed);
      };
      const all = await Promise.all([1, 2, 3].map(() => denials.reviewed(PLACE, 'same', review)));
      expect([reviews, all.map((each) => each.status)]).toEqual([times, Array(3).fill(status)]);
      expect(all[2]?.rationale).toBe(
        times === 1 ? 'It was denied before in this turn. Because.' : 'Because.',
      );
    },
  );

  test('is reviewed again in another turn, and another action is reviewed', async () => {
    const denials = new Denials();
    let reviews = 0;
    const review = async () => {
      reviews++;
      return judged('denied');
    };
    await denials.reviewed(PLACE, 'same', review);
    await denials.reviewed({ ...PLACE, rootTurnId: 'u' }, 'same', review);
    await denials.reviewed({ ...PLACE, sessionId: 'r' }, 'same', review);
    await denials.reviewed(PLACE, 'other', review);
    expect(reviews).toBe(4);
  });

  test('is denied at once, whatever the agent says about it', async () => {
    const attempts = ['a', 'b'].map((id) => response(runsAs(id, 'touch a', { justification: id })));
    const server = await guarded({
      turns: [...attempts, ends, ...attempts, ends],
      reviews: [assesses(DENY), assesses(ALLOW)],
    });
    await server.client.turn(THREAD, 'go');
    expect(server.model.reviews).toHaveLength(1);
    expect(
      reviewsCompleted(server).map(({ targetItemId, review }) => [
        targetItemId,
        review.status,
        review.rationale,
      ]),
    ).toEqual([
      ['a', 'denied', 'It is far too risky.'],
      ['b', 'denied', 'It was denied before in this turn. It is far too risky.'],
    ]);
    await server.client.turn(THREAD, 'again');
    expect(server.model.reviews).toHaveLength(3);
    expect(completed(server).map(({ status }) => status)).toEqual([
      'declined',
      'declined',
      'completed',
      'completed',
    ]);
  });

  /** Spellings of one command, and commands that are others. */
  const SAME = ['touch  a', "touch 'a'", 'touch "a"', ' touch a ', 'touch a;', 't"ou"ch a'];
  const OTHERS = [
    'touch b',
    'touch a b',
    "touch 'a '",
    'touch $A',
    'B=1 touch a',
    'touch a > b',
    'sudo touch a',
  ];

  test.each([
    ...SAME.map((cmd) => [cmd, true] as const),
    ...OTHERS.map((cmd) => [cmd, false] as const),
  ])('in another spelling, %j: %j', async (cmd, isSame) => {
    const planned = (line: string, more: object = {}) => ({
      tool: 'exec_command',
      command: ['bash', '-c', line],
      cwd: '/w',
      tty: false,
      ...more,
    });
    const [before, now] = [
      await withoutSpelling(planned('touch a')),
      await withoutSpelling(planned(cmd)),
    ];
    expect([cmd, isDeepStrictEqual(now, before)]).toEqual([cmd, isSame]);
    expect(await withoutSpelling(planned('touch a', { tty: true }))).toEqual(before);
    expect(
      await withoutSpelling(planned('touch a', { command: ['sh', '-lc', 'touch a'] })),
    ).toEqual(before);
    expect(await withoutSpelling(planned('touch a', { cwd: '/v' }))).not.toEqual(before);
  });

  test('a line whose commands are not certain is compared without its white space', async () => {
    const of = async (line: string) =>
      withoutSpelling({ tool: 'exec_command', command: ['bash', '-c', line] });
    expect(await of('for x in a;  do touch $x;\n done')).toEqual(
      await of('for x in a; do touch $x; done'),
    );
    expect(await of('for x in a; do touch $x; done')).not.toEqual(
      await of('for x in b; do touch $x; done'),
    );
  });

  test('is denied at once in another spelling', async () => {
    const attempts = ['touch a', "touch  'a'", 'touch a ;'].map((cmd, index) =>
      response(runsAs(`s${index}`, cmd)),
    );
    const server = await guarded({
      turns: [...attempts, ends],
      reviews: [assesses(DENY), assesses(ALLOW)],
    });
    await server.client.turn(THREAD, 'go');
    expect(server.model.reviews).toHaveLength(1);
    expect(completed(server).map(({ status }) => status)).toEqual([
      'declined',
      'declined',
      'declined',
    ]);
  });

  test('is reviewed again after a review that failed', async () => {
    const attempts = ['a', 'b'].map((id) => response(runsAs(id, 'touch a')));
    const server = await guarded({
      turns: [...attempts, ends],
      reviews: [assesses('?'), assesses('?'), assesses(ALLOW)],
    });
    await server.client.turn(THREAD, 'go');
    expect(completed(server).map(({ status }) => status)).toEqual(['declined', 'completed']);
  });
});

describe('too many denials in all', () => {
  /** A denial and an approval by turns: never two denials in a row. */
  const attempts = (count: number, start = 0) =>
    Array.from({ length: count }, (_, n) =>
      response(runsAs(`c${start + n}`, `touch ${start + n}`)),
    );
  const byTurns = Array.from({ length: 80 }, (_, n) => assesses(n % 2 === 0 ? DENY : ALLOW));

  test('the tenth of a turn interrupts it, also with approvals between them', async () => {
    const server = await guarded({ turns: [...attempts(30), ends], reviews: byTurns });
    expect((await server.client.turn(THREAD, 'go')).status).toBe('interrupted');
    expect(
      reviewsCompleted(server).filter(({ review }) => review.status === 'denied'),
    ).toHaveLength(10);
    expect(server.model.reviews).toHaveLength(19);
    expect(server.client.notifications('guardianWarning').at(-1)?.message).toContain(
      'denied 10 actions in this turn',
    );
  });

  test('from the thirtieth of a session on, each interrupts its turn', {
    tags: 'slow',
  }, async () => {
    const turns = [0, 1, 2, 3, 4].flatMap((n) => [
      ...attempts(n < 3 ? 18 : n === 3 ? 5 : 1, 100 * n),
      ends,
    ]);
    const server = await guarded({ turns, reviews: byTurns });
    const statuses = [];
    for (let turn = 0; turn < 5; turn++)
      statuses.push((await server.client.turn(THREAD, 'go')).status);
    // 9 denials in each of the first three turns, 3 in the fourth.
    expect(statuses).toEqual(['completed', 'completed', 'completed', 'interrupted', 'completed']);
    expect(
      reviewsCompleted(server).filter(({ review }) => review.status === 'denied'),
    ).toHaveLength(30);
    expect(
      server.client.notifications('guardianWarning').map((each) => each.message),
    ).toContainEqual(expect.stringContaining('denied 30 actions in this session'));
  });

  test('a session that is in use is not forgotten, whatever others begin', () => {
    const denials = new Denials();
    for (let n = 0; n < 29; n++) denials.count({ ...PLACE, rootTurnId: `t${n}` });
    for (let n = 0; n < 20_000; n++) {
      denials.count({ sessionId: `other${n}`, rootTurnId: 't' });
      if (n % 5_000 === 0)
        expect(denials.count({ ...PLACE, rootTurnId: `u${n}` })).toMatch(/actions in this session/);
    }
  });

  test('the count goes on after a compaction and a resume, and a fork has a count of its own', async () => {
    const turns = [
      ...attempts(6),
      ends,
      response(message('the summary')),
      ...attempts(20, 50),
      ends,
    ];
    const denials = Array.from({ length: 80 }, (_, n) => assesses(n % 2 === 0 ? DENY : ALLOW));
    const server = await guarded({ turns, reviews: denials });
    await server.client.turn(THREAD, 'go');
    await server.client.request('thread/compact/start', { threadId: THREAD });
    const first = server.client.notifications('turn/started')[0]?.turn.id;
    const { turn } = await server.client.waitFor(
      'turn/started',
      (params) => params.turn.id !== first,
    );
    await server.client.turnCompleted(turn.id);
    await server.client.request('thread/resume', { threadId: THREAD });
    expect((await server.client.turn(THREAD, 'go on')).status).toBe('interrupted');
    expect(
      reviewsCompleted(server).filter(({ review }) => review.status === 'denied'),
    ).toHaveLength(3 + 10);
    const { thread } = await server.client.request('thread/fork', { threadId: THREAD });
    expect(thread.sessionId).not.toBe(
      server.client.notifications('thread/started')[0]?.thread.sessionId,
    );
  });

  test('a limit of its own for each turn and each session', () => {
    const denials = new Denials();
    const counts = (place: typeof PLACE, times: number) =>
      Array.from({ length: times }, () => denials.count(place));
    expect(counts(PLACE, 11).map((limit) => limit !== null)).toEqual([
      ...Array(9).fill(false),
      true,
      true,
    ]);
    expect(counts({ ...PLACE, rootTurnId: 'u' }, 9)).toEqual(Array(9).fill(null));
    expect(counts({ ...PLACE, rootTurnId: 'v' }, 9)).toEqual(Array(9).fill(null));
    expect(counts({ ...PLACE, rootTurnId: 'w' }, 2)).toEqual([
      '30 actions in this session',
      '31 actions in this session',
    ]);
    expect(counts({ ...PLACE, sessionId: 'r' }, 9)).toEqual(Array(9).fill(null));
  });
});
