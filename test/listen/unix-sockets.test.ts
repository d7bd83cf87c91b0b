import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hiddenSockets } from '../../src/base/files/hidden-sockets.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { openListener } from './listening-server.ts';
import { upgrade } from './raw-connection.ts';
import { shortPath } from './short-path.ts';

const CONTROL = 'app-server-control';
const SOCKET = 'app-server-control.sock';
const modeOf = (path: string) => statSync(path).mode & 0o7777;

/** Leaves the socket of a server that has ended, as a killed one does. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.bound`, resolve));
  // Node removes the socket at the path that it was bound to.
  renameSync(`${path}.bound`, path);
  await new Promise((resolve) => server.close(resolve));
}

test('unix:// is the socket of the home, for its user alone', async () => {
  const place = tempFolder();
  const home = join(shortPath(place), 'home');
  const { address, listeners } = await openListener('unix://', { home, cwd: '/' });
  expect(address).toBe(`unix://${join(home, CONTROL, SOCKET)}`);
  const folder = join(place, 'home', CONTROL);
  expect(modeOf(folder)).toBe(0o700);
  expect(modeOf(join(folder, SOCKET))).toBe(0o600);
  expect(readdirSync(folder)).toEqual([SOCKET]);
  expect(await upgrade(address)).toEqual({ status: 101, text: '' });
  expect(hiddenSockets()).toContain(join(folder, SOCKET));
  listeners.close();
  expect(readdirSync(folder)).toEqual([]);
  expect(hiddenSockets()).not.toContain(join(folder, SOCKET));
});

test('a path is relative to the working folder; one folder of it is made, for its user alone', async () => {
  const cwd = tempFolder();
  const { address } = await openListener('unix://new/socket', { cwd });
  expect(address).toBe(`unix://${join(cwd, 'new', 'socket')}`);
  expect(modeOf(join(cwd, 'new'))).toBe(0o700);
  expect(modeOf(join(cwd, 'new', 'socket'))).toBe(0o600);
  const missing = join(cwd, 'a', 'b', 'socket');
  await expect(openListener(`unix://${missing}`)).rejects.toThrow(
    `${missing}: its folder cannot be made: `,
  );
  expect(existsSync(join(cwd, 'a'))).toBe(false);
});

test.each([
  ['only its user can write to', 0o755, true],
  ['everybody can write to, but only replace what is their own', 0o1777, true],
  ['its group can write to', 0o775, false],
  ['everybody can write to', 0o777, false],
])('a folder that %s', async (_, mode, isFine) => {
  const folder = join(tempFolder(), 'folder');
  mkdirSync(folder);
  chmodSync(folder, mode);
  mkdirSync(join(folder, 'own'), { mode: 0o700 });
  for (const path of [join(folder, 'socket'), join(folder, 'own', 'socket')]) {
    const opened = openListener(`unix://${path}`).then(() => 'fine');
    const problem = `${path}: other users can replace what is in ${folder}. Use a folder that only you or root can write to`;
    if (isFine) expect(await opened).toBe('fine');
    else await expect(opened).rejects.toThrow(problem);
  }
  expect(modeOf(folder)).toBe(mode);
});

test('a folder behind a link is looked at where it is', async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, 'open'));
  chmodSync(join(folder, 'open'), 0o777);
  mkdirSync(join(folder, 'open', 'real'));
  symlinkSync(join(folder, 'open', 'real'), join(folder, 'link'));
  await expect(openListener(`unix://${folder}/link/socket`)).rejects.toThrow(
    'other users can replace what is in',
  );
});

test.runIf(process.getuid?.() === 0)('the folder of another user is refused', async () => {
  const folder = tempFolder();
  chownSync(folder, 65_534, 65_534);
  await expect(openListener(`unix://${folder}/socket`)).rejects.toThrow(
    `other users can replace what is in ${folder}`,
  );
});

test('the socket of a server that has ended is replaced', async () => {
  const path = join(tempFolder(), 'socket');
  await leaveSocket(path);
  expect(statSync(path).isSocket()).toBe(true);
  const { address } = await openListener(`unix://${path}`);
  expect((await upgrade(address)).status).toBe(101);
});

test('a socket in use is not; nor is it removed by the server that was refused', async () => {
  const path = join(tempFolder(), 'socket');
  const { address } = await openListener(`unix://${path}`);
  await expect(openListener(`unix://${path}`)).rejects.toThrow(
    `${path} is already in use by another server`,
  );
  expect((await upgrade(address)).status).toBe(101);
});

test.each<[string, (path: string) => void]>([
  ['a file', (path) => writeFileSync(path, 'mine')],
  ['a folder', (path) => mkdirSync(path)],
  ['a link to a file', (path) => symlinkSync('/etc/passwd', path)],
])('%s at the path stays', async (_, make) => {
  const folder = tempFolder();
  const path = join(folder, 'socket');
  make(path);
  const before = statSync(path);
  await expect(openListener(`unix://${path}`)).rejects.toThrow(
    `${path} exists and is not a socket`,
  );
  expect(statSync(path).ino).toBe(before.ino);
  expect(readdirSync(folder)).toEqual(['socket']);
});

test('at its end a server leaves the socket of one that has taken its place', async () => {
  const path = join(tempFolder(), 'socket');
  const first = await openListener(`unix://${path}`);
  rmSync(path);
  const second = await openListener(`unix://${path}`);
  first.listeners.close();
  expect((await upgrade(second.address)).status).toBe(101);
});

test('a path can be as long as the system allows for a socket', async () => {
  const [folder, deep] = [tempFolder(), join(tempFolder(), 'x'.repeat(96))];
  const longest = join(folder, 'x'.repeat(107 - folder.length - 1));
  const { address } = await openListener(`unix://${longest}`);
  expect((await upgrade(address)).status).toBe(101);
  await expect(openListener(`unix://${longest}x`)).rejects.toThrow(
    `${longest}x: the path of a socket has at most 107 bytes`,
  );
  // A socket gets its name after it was made under another one.
  const short = join(deep.slice(0, 98), 's');
  await expect(openListener(`unix://${short}`)).rejects.toThrow(
    `${short}: the path of the folder of a socket has at most 96 bytes`,
  );
});

test('of servers that start at once on the place of one that was killed, one listens', async () => {
  for (let round = 0; round < 10; round++) {
    const path = join(tempFolder(), 'socket');
    await leaveSocket(path);
    const starts = Array.from({ length: 4 }, () => openListener(`unix://${path}`));
    const results = await Promise.allSettled(starts);
    const told = results.map((one) =>
      one.status === 'fulfilled' ? 'listens' : (one.reason as Error).message,
    );
    const used = `${path} is already in use by another server`;
    expect(told.sort()).toEqual([used, used, used, 'listens'].sort());
    expect((await upgrade(`unix://${path}`)).status).toBe(101);
  }
});

test('a port in use is told', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as { port: number };
  await expect(openListener(`ws://127.0.0.1:${port}`)).rejects.toThrow(
    `ws://127.0.0.1:${port} is already in use by another program`,
  );
});
