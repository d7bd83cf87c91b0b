import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ThreadContext } from '../../src/agent/thread-context.ts';
import type { TurnPart } from '../../src/agent/turn/turn-part.ts';
import { contextMessage } from '../../src/instructions/messages/context-message.ts';
import { idOf } from '../support/counting-ids.ts';
import { text } from '../support/test-client.ts';
import {
  functionCall,
  message,
  response,
  type ScriptedResponse,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const threadId = idOf(1);
const FULL_ACCESS = { sandbox: 'danger-full-access', approvalPolicy: 'never' } as const;
const done = response(message('done'));

/** A server whose threads have one more part. */
async function threadWith(
  create: (thread: ThreadContext) => TurnPart,
  ...responses: ScriptedResponse[]
): Promise<TestServer> {
  const server = await startServer({ model: new TestModel(...responses), partKinds: [{ create }] });
  await server.client.request('thread/start', FULL_ACCESS);
  return server;
}

/** The outputs in the model's request with this number. */
function outputs({ model }: TestServer, request: number): unknown[] {
  return model
    .request(request)
    .input.flatMap((item) =>
      item.type.endsWith('_output') && 'output' in item ? [item.output] : [],
    );
}

const touch = (file: string) =>
  functionCall('exec_command', { cmd: `touch ${file}`, login: false });

/** The message that marks the turns that a part began. */
const QUEUED = 'the queue says: go on';

test('a call that a part refuses does not begin, and the model reads why', async () => {
  const server = await threadWith(
    () => ({
      on: {
        call: async ({ call }) =>
          call.tool === 'exec_command' ? { refuse: 'no commands on Sundays' } : {},
      },
    }),
    response(touch('made')),
    done,
  );
  await server.client.turn(threadId, 'go');
  expect(outputs(server, 2)).toEqual(['no commands on Sundays']);
  expect(existsSync(join(server.cwd, 'made'))).toBe(false);
  expect(server.client.notifications('item/started').map(({ item }) => item.type)).toEqual([
    'userMessage',
    'agentMessage',
  ]);
});

test('a part checks every kind of call, and calls that it does not refuse are performed', async () => {
  const checked: string[] = [];
  const patch = '*** Begin Patch\n*** Add File: added\n+text\n*** End Patch\n';
  const server = await threadWith(
    () => ({
      on: {
        call: async ({ call }) => {
          checked.push(call.tool);
          return {};
        },
      },
    }),
    response(
      touch('made'),
      functionCall('apply_patch', { input: patch }, { callId: 'call_2' }),
      functionCall('update_plan', { plan: [] }, { callId: 'call_3' }),
    ),
    done,
  );
  await server.client.turn(threadId, 'go');
  expect(checked.sort()).toEqual(['apply_patch', 'exec_command', 'update_plan']);
  for (const file of ['made', 'added']) expect(existsSync(join(server.cwd, file))).toBe(true);
});

test('a part that throws instead of returning a step takes none, and the turn runs to its end', async () => {
  const broken = () => {
    throw new Error('the part is broken');
  };
  const part: TurnPart = {
    inputArrived: broken,
    turnBegan: broken,
    tokensUsed: broken,
    turnEnded: broken,
  };
  const server = await threadWith(() => part, done);
  await server.client.turn(threadId, 'go');
  const { thread } = await server.client.request('thread/read', { threadId, includeTurns: true });
  expect(thread.turns.map(({ status }) => status)).toEqual(['completed']);
  expect(server.log.takeFailedMoments()).toEqual(Object.keys(part));
});

test('a part that throws while the thread is idle, resumed or closed is passed over', async () => {
  const broken = () => {
    throw new Error('the part is broken');
  };
  const rejecting = async () => broken();
  const server = await threadWith(
    () => ({ due: broken, opened: broken, endWork: rejecting }),
    done,
  );
  await server.client.turn(threadId, 'go');
  await server.client.request('thread/resume', { threadId });
  await server.client.waitFor('thread/goal/cleared');
  await server.client.request('thread/archive', { threadId });
  expect(await server.store.getThread(threadId)).toMatchObject({
    archivedAtMs: expect.any(Number),
  });
  expect(new Set(server.log.takeFailedMoments())).toEqual(new Set(['due', 'opened', 'endWork']));
});

test('a part can begin turns while the thread is idle', async () => {
  let left = 2;
  const due = () => {
    if (left === 0) return null;
    left--;
    return { kind: 'user' as const, tell: [contextMessage('user', [QUEUED])] };
  };
  const server = await threadWith(() => ({ due }), done, done, done);
  await server.client.turn(threadId, 'go');
  await server.model.asked(3);
  let ends = 0;
  await server.client.first(
    'the end of the last turn',
    ({ method }) => method === 'turn/completed' && ++ends === 3,
  );
  const opened = server.model.requests.map(
    ({ input }) => JSON.stringify(input).split(QUEUED).length - 1,
  );
  expect(opened).toEqual([0, 1, 2]);
  const { thread } = await server.client.request('thread/read', { threadId, includeTurns: true });
  expect(thread.turns.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
});

test('the moments of a part come in order, and its steps are stored and announced with the turn', async () => {
  const moments: string[] = [];
  const warning = (text: string) => ({
    announce: [{ method: 'warning' as const, params: { threadId, message: text } }],
  });
  const at = <T>(moment: string, result: T): T => {
    moments.push(moment);
    return result;
  };
  const part: TurnPart = {
    inputArrived: () => at('inputArrived', { patch: { memoryMode: 'enabled' } }),
    turnBegan: () => at('turnBegan', warning('began')),
    beforeRequest: async () =>
      at('beforeRequest', { tell: [contextMessage('user', ['a word of the part'])] }),
    tokensUsed: () => at('tokensUsed', {}),
    turnEnded: (_turn, { status, acted }) => at(`turnEnded ${status} ${acted}`, warning('ended')),
    cleanUp: async () => at('cleanUp', undefined),
  };
  const server = await threadWith(
    () => part,
    response(functionCall('update_plan', { plan: [] })),
    done,
  );
  await server.client.turn(threadId, 'go');
  expect(moments).toEqual([
    ...[
      'inputArrived',
      'turnBegan',
      'beforeRequest',
      'tokensUsed',
      'beforeRequest',
      'tokensUsed',
      'cleanUp',
    ],
    'turnEnded completed true',
  ]);
  expect(JSON.stringify(server.model.request(1).input)).toContain('a word of the part');
  const methods = server.client.messages.map(({ method }) => method);
  expect(methods.indexOf('warning')).toBe(methods.indexOf('turn/started') + 1);
  expect(methods.lastIndexOf('warning')).toBeLessThan(methods.indexOf('turn/completed'));
  expect((await server.store.getThread(threadId))?.memoryMode).toBe('enabled');
});

test.each<[string, TurnPart]>([
  ['checks a call', { on: { call: () => new Promise(() => {}) } }],
  ['is asked before a request', { beforeRequest: () => new Promise(() => {}) }],
  ['lists its tools', { tools: () => new Promise(() => {}) }],
])('an interrupt ends a turn whose part hangs while it %s', async (_, part) => {
  const server = await threadWith(() => part, response(touch('made')), done);
  const { turn } = await server.client.request('turn/start', { threadId, input: text('go') });
  await server.client.waitFor('turn/started');
  if ('on' in part) await server.model.asked(1);
  await server.client.request('turn/interrupt', { threadId, turnId: turn.id });
  expect(await server.client.turnCompleted(turn.id)).toMatchObject({ status: 'interrupted' });
  expect(server.model.requests).toHaveLength('on' in part ? 1 : 0);
  expect(existsSync(join(server.cwd, 'made'))).toBe(false);
});

test('a part changes the arguments of a call, and the next part sees the change', async () => {
  const seen: unknown[] = [];
  const model = new TestModel(response(touch('one')), done);
  const server = await startServer({
    model,
    partKinds: [
      {
        create: () => ({
          on: {
            call: ({ call: { args } }) => ({ args: { ...(args as object), cmd: 'touch two' } }),
          },
        }),
      },
      {
        create: () => ({
          on: {
            call: ({ call: { args } }) => {
              seen.push(args);
              return {};
            },
          },
        }),
      },
    ],
  });
  await server.client.request('thread/start', FULL_ACCESS);
  await server.client.turn(threadId, 'go');
  expect(seen).toEqual([{ cmd: 'touch two', login: false }]);
  expect(['one', 'two'].filter((name) => existsSync(join(server.cwd, name)))).toEqual(['two']);
});

test('a call is refused if a part throws while deciding about it', async () => {
  const server = await threadWith(
    () => ({
      on: {
        call: () => {
          throw new Error('the check is broken');
        },
      },
    }),
    response(touch('made')),
    done,
  );
  await server.client.turn(threadId, 'go');
  expect(outputs(server, 2)).toEqual(['Refused: a check of this call failed inside the server.']);
  expect(existsSync(join(server.cwd, 'made'))).toBe(false);
  expect(server.log.takeFailedMoments()).toEqual(['call']);
});

test('the model does not read input if a part throws while checking it', async () => {
  const server = await threadWith(() => ({
    wants: (event) => event === 'input',
    on: {
      input: () => {
        throw new Error('the check is broken');
      },
    },
  }));
  expect((await server.client.turn(threadId, 'go')).status).toBe('completed');
  expect(server.model.requests).toEqual([]);
  expect(server.log.takeFailedMoments()).toEqual(['input']);
});

test('a part that throws after a call, a response or at the end of a turn is passed over', async () => {
  const fails = () => {
    throw new Error('broken');
  };
  const server = await threadWith(
    () => ({
      wants: (event) => event === 'called',
      requestEnded: fails,
      stopping: fails,
      on: { called: fails, inputNext: fails },
    }),
    response(touch('made')),
    done,
  );
  expect((await server.client.turn(threadId, 'go')).status).toBe('completed');
  expect(existsSync(join(server.cwd, 'made'))).toBe(true);
  expect(new Set(server.log.takeFailedMoments())).toEqual(
    new Set(['called', 'requestEnded', 'stopping', 'inputNext']),
  );
});

test('an interrupt ends the wait for a part that decides about a call', async () => {
  let asked = () => {};
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const server = await threadWith(
    () => ({
      on: {
        call: () => {
          asked();
          return new Promise(() => {});
        },
      },
    }),
    response(touch('made')),
  );
  const { turn } = await server.client.request('turn/start', { threadId, input: text('go') });
  await wasAsked;
  await server.client.request('turn/interrupt', { threadId, turnId: turn.id });
  expect((await server.client.waitFor('turn/completed')).turn.status).toBe('interrupted');
  expect(existsSync(join(server.cwd, 'made'))).toBe(false);
});
