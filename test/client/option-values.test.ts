import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { spawnServer } from '../../src/client/spawn-server.ts';
import { createAppServer, createScriptedModel } from '../../src/index.ts';
import { tempFolder } from '../config/temp-folder.ts';

const LOGGER = 'a logger such as pino, with the methods debug, info, warn, error';
const TRANSPORT = 'an object with the streams input and output, or with the methods of a Transport';
const streams = () => ({ input: new PassThrough(), output: new PassThrough() });

function start() {
  const server = createAppServer({ home: tempFolder(), env: {} });
  onTestFinished(async () => void (await server.close()));
  return server;
}

/** A client of a server that never answers. */
function lonely() {
  return connect(streams());
}

/** By function and option: values of another kind, and the rest of "… must be …". */
const WRONG: Record<
  string,
  { call: (options: never) => unknown; options: Record<string, [unknown[], string]> }
> = {
  createAppServer: {
    call: (options: object) => createAppServer({ home: '/nowhere', ...options }),
    options: {
      home: [[5, '', null], 'the path of a folder'],
      cwd: [[5, null, ['a']], 'a string'],
      env: [['A=1', ['A=1'], null], 'an object with variables'],
      deterministic: [['yes', 1, null], 'true or false'],
      log: [[{}, () => {}, { info() {} }], LOGGER],
      'the transport': [
        [{}, new PassThrough(), { input: new PassThrough() }, 'stdio', null],
        TRANSPORT,
      ],
    },
  },
  connectClient: {
    call: (options) => start().connectClient(options),
    options: {
      unhandledRequests: [['ignore', true], '"refuse" or "leave"'],
      onMessage: [['log'], 'a function'],
      onSkipped: [[1], 'a function'],
    },
  },
  spawnServer: {
    call: spawnServer,
    options: {
      command: [[['heddle']], 'a string'],
      args: [['app-server', [1]], 'an array of strings'],
      cwd: [[1], 'a string'],
      env: [[[]], 'an object with variables'],
      home: [[{}], 'a string'],
      onStderr: [[console], 'a function'],
    },
  },
  connect: {
    call: (options: object) => connect({ ...streams(), ...options }),
    options: { input: [[1, {}], 'a readable stream'], output: [['x', {}], 'a writable stream'] },
  },
  createScriptedModel: {
    call: (options) => createScriptedModel('- Hi.', options),
    options: {
      clock: [[Date], 'a clock, with the methods now, monotonic, setTimer'],
      log: [[1], LOGGER],
      file: [[1], 'a string'],
    },
  },
  events: {
    call: (options) => lonely().events(options),
    options: { threadId: [[1], 'a string'], signal: [[{}, 1], 'an AbortSignal'] },
  },
  turn: {
    call: (options) => lonely().turn({ threadId: 'x', input: 'y' }, options),
    options: { signal: [[new AbortController(), {}], 'an AbortSignal'] },
  },
};

const cases = Object.entries(WRONG).flatMap(([place, { call, options }]) =>
  Object.entries(options).flatMap(([name, [values, expected]]) =>
    values.map((value) => ({ place, call, name, value, expected })),
  ),
);

test.each(cases)('$place: $name must be $expected', ({ place, call, name, value, expected }) => {
  const option = name.split(' ').at(-1) ?? '';
  expect(() => call({ [option]: value } as never)).toThrow(
    new TypeError(`${place}: ${name} must be ${expected}`),
  );
});

test('a working directory that does not exist', () => {
  const cwd = join(tempFolder(), 'nope');
  const problem = `createAppServer: cwd must be a folder that exists, and ${cwd} is none`;
  expect(() => createAppServer({ home: '/nowhere', cwd })).toThrow(new TypeError(problem));
});

test('an undefined option is as good as an absent one', () => {
  const names = ['cwd', 'env', 'overrides', 'transport', 'model', 'deterministic', 'log'];
  const options = Object.fromEntries(names.map((name) => [name, undefined]));
  expect(() => createAppServer({ home: '/nowhere', ...options })).not.toThrow();
});

test.each([
  [undefined, 'undefined'],
  [null, 'null'],
  ['home', 'string'],
  [[], 'an array'],
])('options that are %j are refused', (options, kind) => {
  expect(() => createAppServer(options as never)).toThrow(
    new TypeError(`createAppServer: the options must be an object, not ${kind}`),
  );
});

test('connect of a server that got no streams', async () => {
  await expect(start().connect(process.stdin as never)).rejects.toThrow(
    new TypeError(`connect: the transport must be ${TRANSPORT}`),
  );
});

describe('a name of a method that is nearly one of the protocol', () => {
  const approval = 'item/commandExecution/requestApproval';

  test('is refused, because its listener would never be called', () => {
    const client = lonely();
    const refused: [string, () => unknown][] = [
      [
        `handle: unknown method "${approval}l": did you mean ${approval}?`,
        () => client.handle(`${approval}l` as never, () => ({}) as never),
      ],
      [
        'on: unknown method "turn/complete": did you mean turn/completed?',
        () => client.on('turn/complete' as never, () => {}),
      ],
      [
        'notifications: unknown method "turn/Started": did you mean turn/started?',
        () => client.notifications('turn/Started' as never),
      ],
    ];
    for (const [problem, call] of refused) expect(call).toThrow(new TypeError(problem));
  });

  test('another name is accepted, because a newer server may have it', () => {
    const client = lonely();
    expect(() => client.handle('item/weather/ask' as never, () => ({}) as never)).not.toThrow();
    expect(() => client.on('weather/changed' as never, () => {})).not.toThrow();
  });

  test('a handler has to be a function', () => {
    expect(() => lonely().handle(approval, { decision: 'accept' } as never)).toThrow(
      new TypeError(`handle: the handler of ${approval} must be a function`),
    );
    expect(() => lonely().on('turn/started', undefined as never)).toThrow(
      new TypeError('on: the listener of turn/started must be a function'),
    );
  });
});
