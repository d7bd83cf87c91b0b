import { expect, test } from 'vitest';
import {
  isLoopback,
  type ListenAddress,
  listenAddress,
  socketUrl,
} from '../../src/listen/listen-address.ts';

test.each<[string, ListenAddress]>([
  ['stdio://', { kind: 'stdio' }],
  ['stdio', { kind: 'stdio' }],
  ['off', { kind: 'off' }],
  ['unix://', { kind: 'unix', path: null }],
  ['unix:///run/heddle/socket', { kind: 'unix', path: '/run/heddle/socket' }],
  ['unix://socket', { kind: 'unix', path: 'socket' }],
  ['unix://with space:and@more', { kind: 'unix', path: 'with space:and@more' }],
  ['ws://127.0.0.1:0', { kind: 'ws', host: '127.0.0.1', port: 0 }],
  ['ws://127.0.0.1:8080/', { kind: 'ws', host: '127.0.0.1', port: 8080 }],
  ['ws://0.0.0.0:65535', { kind: 'ws', host: '0.0.0.0', port: 65_535 }],
  ['ws://[::1]:8080', { kind: 'ws', host: '::1', port: 8080 }],
  ['ws://[::]:0', { kind: 'ws', host: '::', port: 0 }],
])('%s', (text, address) => {
  expect(listenAddress(text)).toEqual(address);
});

const FORMS = 'expected stdio://, ws://IP:PORT, unix://, unix://PATH or off, found ';
const SOCKET = 'expected ws://IP:PORT, found ';
const IP = 'expected an IP address, such as 127.0.0.1 or [::1], found ';

test.each([
  ['', `${FORMS}""`],
  ['tcp://127.0.0.1:1', `${FORMS}"tcp://127.0.0.1:1"`],
  ['wss://127.0.0.1:1', `${FORMS}"wss://127.0.0.1:1"`],
  ['http://127.0.0.1:1', `${FORMS}"http://127.0.0.1:1"`],
  ['127.0.0.1:1', `${FORMS}"127.0.0.1:1"`],
  ['OFF', `${FORMS}"OFF"`],
  ['unix:/run/socket', `${FORMS}"unix:/run/socket"`],
  ['stdio://x', `${FORMS}"stdio://x"`],
  [' ws://127.0.0.1:1', `${FORMS}" ws://127.0.0.1:1"`],
  ['ws://', `${SOCKET}"ws://"`],
  ['ws://127.0.0.1', `${SOCKET}"ws://127.0.0.1"`],
  ['ws://127.0.0.1:', `${SOCKET}"ws://127.0.0.1:"`],
  ['ws://127.0.0.1:http', `${SOCKET}"ws://127.0.0.1:http"`],
  ['ws://127.0.0.1:-1', `${SOCKET}"ws://127.0.0.1:-1"`],
  ['ws://127.0.0.1:1/path', `${SOCKET}"ws://127.0.0.1:1/path"`],
  ['ws://127.0.0.1:1?token=x', `${SOCKET}"ws://127.0.0.1:1?token=x"`],
  ['ws://user@127.0.0.1:1/', `${IP}"user@127.0.0.1"`],
  ['ws://::1:8080', `${SOCKET}"ws://::1:8080"`],
  ['ws://localhost:1', `${IP}"localhost"`],
  ['ws://:1', `${IP}""`],
  ['ws://[]:1', `${IP}""`],
  ['ws://[127.0.0.1]:1', `${IP}"127.0.0.1"`],
  ['ws://127.0.0.256:1', `${IP}"127.0.0.256"`],
  ['ws://127.1:1', `${IP}"127.1"`],
  ['ws://127.0.0.1:65536', 'expected a port of at most 65535, found 65536'],
  ['ws://127.0.0.1:999999999999', 'expected a port of at most 65535, found 999999999999'],
])('%j is refused', (text, problem) => {
  expect(listenAddress(text)).toBe(problem);
});

test('an address is only of this machine if it is of its loopback interface', () => {
  const own = ['127.0.0.1', '127.9.8.7', '::1', '0:0:0:0:0:0:0:1', '::0001', '::ffff:127.0.0.1'];
  const others = ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '::2', '1::1', 'fe80::1'];
  expect(own.filter((host) => !isLoopback(host))).toEqual([]);
  expect([...others, '::ffff:10.0.0.1', '::ffff:7f00:1:1'].filter(isLoopback)).toEqual([]);
});

test('the URL of an address has brackets around IPv6', () => {
  expect(socketUrl({ host: '127.0.0.1', port: 1 })).toBe('ws://127.0.0.1:1');
  expect(socketUrl({ host: '::1', port: 1 })).toBe('ws://[::1]:1');
});
