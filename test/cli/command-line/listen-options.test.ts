import { describe, expect, test } from 'vitest';
import type { ListenOptions } from '../../../src/cli/command-line/listen-options.ts';
import { parseCommandLine } from '../../../src/cli/command-line/parse-command-line.ts';
import { ListenError } from '../../../src/listen/listen-error.ts';
import { problemOf } from './problem-of.ts';

const WS = '--listen ws://127.0.0.1:0';
const HEX = 'aB'.repeat(32);
const CAPABILITY = `${WS} --ws-auth capability-token`;
const SIGNED = `${WS} --ws-auth signed-bearer-token`;
/** All that stands on the options of `--ws-auth`, with values that could be used. */
const OF_TOKEN = ['--ws-token-file f', `--ws-token-sha256 ${HEX}`];
const OF_SECRET = [
  '--ws-shared-secret-file f',
  '--ws-issuer i',
  '--ws-audience a',
  '--ws-max-clock-skew-seconds 1',
];
const nameOf = (option: string) => option.split(' ')[0];

function listenOf(line: string): ListenOptions {
  const command = parseCommandLine(line.split(' ').filter((word) => word !== ''));
  if (command.run !== 'serve') throw new Error(command.run);
  return command.options.listen;
}

/** The text about a command line that cannot be used. */
function refusal(argv: string[]): string | null {
  try {
    return problemOf(argv)?.replace(' (see "heddle --help")', '') ?? null;
  } catch (error) {
    if (error instanceof ListenError) return error.message;
    throw error;
  }
}

const STDIO = { kind: 'stdio' };
const PORT = { kind: 'ws', host: '127.0.0.1', port: 0 };
const OPEN = { bearer: null, origins: [], hosts: [] };

describe('a command line', () => {
  test.each<[string, object[]]>([
    ['', [STDIO]],
    ['--stdio', [STDIO]],
    ['--listen stdio://', [STDIO]],
    ['--listen off', [{ kind: 'off' }]],
    [WS, [PORT]],
    [`${WS} --listen stdio://`, [PORT, STDIO]],
    [`--stdio ${WS}`, [STDIO, PORT]],
    ['--listen unix:// --listen unix://s', [null, 's'].map((path) => ({ kind: 'unix', path }))],
  ])('app-server %s: listens on what it names', (line, addresses) => {
    expect(listenOf(`app-server ${line}`)).toEqual({ ...OPEN, addresses });
  });

  test.each<[string, ListenOptions['bearer']]>([
    [`${CAPABILITY} --ws-token-file f`, { mode: 'capability-token', token: { file: 'f' } }],
    [
      `${CAPABILITY} --ws-token-sha256 ${HEX}`,
      { mode: 'capability-token', token: { sha256: HEX } },
    ],
    [
      `${SIGNED} --ws-shared-secret-file f`,
      {
        mode: 'signed-bearer-token',
        secretFile: 'f',
        issuer: null,
        audience: null,
        clockSkewSeconds: 30,
      },
    ],
    [
      `${SIGNED} ${OF_SECRET.join(' ')}`,
      {
        mode: 'signed-bearer-token',
        secretFile: 'f',
        issuer: 'i',
        audience: 'a',
        clockSkewSeconds: 1,
      },
    ],
  ])('%s: says how clients prove who they are', (line, bearer) => {
    expect(listenOf(`app-server ${line}`)).toEqual({ ...OPEN, addresses: [PORT], bearer });
  });

  test('has origins as browsers send them, and hosts in any case', () => {
    const line = `${WS} --ws-allow-origin HTTPS://Example.com:443/page --ws-allow-origin app://local --ws-allow-host My.Host`;
    expect(listenOf(`app-server ${line}`)).toEqual({
      addresses: [PORT],
      bearer: null,
      origins: ['https://example.com', 'app://local'],
      hosts: ['my.host'],
    });
  });
});

describe('is refused', () => {
  const CASES: [string, string][] = [
    [
      '--listen ws://localhost:1',
      '--listen: expected an IP address, such as 127.0.0.1 or [::1], found "localhost"',
    ],
    [
      '--listen tcp://x',
      '--listen: expected stdio://, ws://IP:PORT, unix://, unix://PATH or off, found "tcp://x"',
    ],
    [`${WS} --ws-auth none`, '--ws-auth none: expected capability-token or signed-bearer-token'],
    ...OF_TOKEN.flatMap((option): [string, string][] =>
      [WS, SIGNED].map((line) => [
        `${line} ${option}`,
        `${nameOf(option)} requires --ws-auth capability-token`,
      ]),
    ),
    ...OF_SECRET.flatMap((option): [string, string][] =>
      [WS, `${CAPABILITY} --ws-token-file f`].map((line) => [
        `${line} ${option}`,
        `${nameOf(option)} requires --ws-auth signed-bearer-token`,
      ]),
    ),
    ...['', OF_TOKEN.join(' ')].map((options): [string, string] => [
      `${CAPABILITY} ${options}`,
      '--ws-auth capability-token requires either --ws-token-file or --ws-token-sha256',
    ]),
    ...['', ...OF_SECRET.slice(1)].map((option): [string, string] => [
      `${SIGNED} ${option}`,
      '--ws-auth signed-bearer-token requires --ws-shared-secret-file',
    ]),
    ...['ab', `${HEX}0`, HEX.replace('a', 'g')].map((hex): [string, string] => [
      `${CAPABILITY} --ws-token-sha256 ${hex}`,
      '--ws-token-sha256 requires the SHA-256 of the token: 64 hexadecimal digits',
    ]),
    ...['x', '1.5', '1e3', '9999999999'].map((seconds): [string, string] => [
      `${SIGNED} --ws-shared-secret-file f --ws-max-clock-skew-seconds ${seconds}`,
      `--ws-max-clock-skew-seconds requires a whole number of seconds, found "${seconds}"`,
    ]),
    ...['example.com', '*', 'null', 'https://', 'data:x', 'app://a/b'].map(
      (origin): [string, string] => [
        `${WS} --ws-allow-origin ${origin}`,
        `--ws-allow-origin requires an origin such as https://example.com, found "${origin}"`,
      ],
    ),
    // A unix socket has its own rules.
    ...['', '--listen stdio://', '--listen unix://', '--listen off'].flatMap((listen) =>
      [
        '--ws-auth capability-token --ws-token-file f',
        '--ws-allow-origin https://a.example',
        '--ws-allow-host a.example',
      ].map((option): [string, string] => [
        `${listen} ${option}`,
        `${nameOf(option)} requires --listen ws://IP:PORT`,
      ]),
    ),
    [`--deterministic ${WS}`, '--deterministic serves only stdio://'],
    ['--deterministic --listen unix:// --stdio', '--deterministic serves only stdio://'],
    [`--framing content-length ${WS}`, '--framing requires --listen stdio://'],
  ];

  test.each(CASES)('app-server %s', (line, problem) => {
    const argv = `app-server ${line}`.split(' ').filter((word) => word !== '');
    expect(refusal(argv)).toBe(problem);
  });
});
