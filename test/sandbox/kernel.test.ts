import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { SECCOMP_NUMBERS } from '../../src/sandbox/linux/seccomp-numbers.ts';
import { ConfinedWorld } from './confined-world.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

/** Runs Python calls, and returns `done` or the error's name for each. */
async function python(calls: readonly string[], bounds = {}): Promise<string[]> {
  const script = `
import ctypes, errno, fcntl, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    if getattr(libc, name)(*args) < 0: raise OSError(ctypes.get_errno(), '')
def syscall(*args): call('syscall', *args)
def udp(): return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).detach()
def loopback(address):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    one, other = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
    one.bind((address, 0))
    other.sendto(b'x', one.getsockname())
    one.settimeout(5)
    one.recv(1)
def connect_pair(kind, path):
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    other.close()
    one.connect(path + bytes([46, 48 + kind]))
def send_from_pair(kind, path):
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    call('connect', one.fileno(), bytes(16), 16)
    one.sendto(b'first', path)
for each in sys.argv[1:]:
    try:
        eval(each)
        print('done')
    except OSError as error: print(errno.errorcode[error.errno])
`;
  const { stdout, stderr } = await world.run(['python3', '-c', script, ...calls], bounds);
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

/**
 * Listens outside the sandbox: on a datagram socket, and on sockets of the types 1 and 5, whose
 * paths end with the type. `received` ends it, and returns the datagrams that it has received.
 */
async function unixListeners(): Promise<{ path: string; received(): Promise<string> }> {
  const path = join(world.workspace, 'listener.sock');
  const script = `
import select, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
others = [(socket.socket(socket.AF_UNIX, kind), kind) for kind in (1, 5)]
for other, kind in others:
    other.bind(f'{sys.argv[1]}.{kind}')
    other.listen()
print(flush=True)
sys.stdin.read()
while select.select([listener], [], [], 0)[0]: print(listener.recv(99).decode(), end=' ')
`;
  const listener = spawn('python3', ['-c', script, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void listener.kill());
  await once(listener.stdout, 'data');
  return {
    path,
    async received() {
      listener.stdin.end();
      return (await listener.stdout.toArray()).join('');
    },
  };
}

test('no namespace can be created or entered, and nothing can be mounted', async () => {
  const namespaces = [
    0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x80,
  ];
  const calls = [
    ...namespaces.map((flag) => `call('unshare', ${flag})`),
    "call('setns', os.open('/proc/self/ns/net', os.O_RDONLY), 0)",
    "call('mount', b'none', b'/tmp', b'tmpfs', 0, None)",
    "call('umount2', b'/proc', 2)",
    "call('chroot', b'/tmp')",
    'syscall(428, -100, b"/", 1)',
    'syscall(430, b"tmpfs", 0)',
  ];
  expect(await python(calls)).toEqual(calls.map(() => 'EPERM'));
  expect((await world.run(['unshare', '-Ur', 'true'])).stderr).toContain('Operation not permitted');
});

test('the kernel and other processes cannot be accessed', async () => {
  const calls = [
    "call('ptrace', 16, 1, 0, 0)",
    "call('process_vm_readv', 1, None, 0, None, 0, 0)",
    "call('klogctl', 3, None, 0)",
    "call('reboot', 0)",
    "call('swapoff', b'/x')",
    "call('acct', None)",
    ...[248, 249, 250, 298, 321, 323, 246, 425, 438, 175].map(
      (number) => `syscall(${process.arch === 'x64' ? number : 425}, 0, 0, 0)`,
    ),
  ];
  expect(await python(calls)).toEqual(calls.map(() => 'EPERM'));
});

test('no device can be created, and no file gets capabilities', async () => {
  const calls = [
    "os.mknod('block', 0o60600, os.makedev(254, 0))",
    "os.mknod('memory', 0o20600, os.makedev(1, 1))",
    "open('file', 'w').close() or os.setxattr('file', 'security.capability', bytes.fromhex('0100000200020000' + '00' * 12))",
    'os.setgroups([0])',
  ];
  expect(await python(calls)).toEqual(calls.map(() => 'EPERM'));
});

test('the process that adopts orphans in the sandbox also has the filter, and no open files except those of the command', async () => {
  const { stdout } = await world.bash(
    'grep -E "^(Seccomp|NoNewPrivs|CapEff):" /proc/1/status; ls -l /proc/1/fd | grep -cE " (/[^d]|/d[^e])"',
  );
  expect(stdout).toBe('CapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n0\n');
});

test('input cannot be injected into a terminal', async () => {
  const calls = [
    "fcntl.ioctl(os.openpty()[1], 0x5412, b'x')",
    "fcntl.ioctl(os.openpty()[1], 0x541c, b'\\\\3')",
    'os.openpty()',
  ];
  const high = "call('ioctl', os.openpty()[1], ctypes.c_ulong(0x1_0000_5412), b'x')";
  expect(await python([...calls, high])).toEqual(['EPERM', 'EPERM', 'done', 'EPERM']);
});

test('a file that is only read cannot be leased, which would hold up its writer', async () => {
  const calls = [1024, 1040].map(
    (command) => `fcntl.fcntl(os.open('/etc/passwd', os.O_RDONLY), ${command}, 0)`,
  );
  const own = "fcntl.fcntl(os.open('leased', os.O_RDONLY | os.O_CREAT), 1024, 0)";
  const reading = "fcntl.fcntl(os.open('leased', os.O_RDONLY), 1025)";
  expect(await python([...calls, own, reading])).toEqual(['EPERM', 'EPERM', 'EPERM', 'done']);
});

test('a command in a terminal leads its session, in which bubblewrap is not, and has the filter', async () => {
  const script = [
    'import fcntl, os',
    'print(os.isatty(0), os.getsid(0) == os.getpid() == os.tcgetpgrp(0), os.getsid(1) == os.getsid(0))',
    "try: fcntl.ioctl(os.openpty()[1], 0x5412, b'x')",
    'except OSError as error: print(error.errno)',
  ];
  const ran = await world.inTerminal(['python3', '-c', script.join('\n')]);
  expect(ran).toEqual({ exitCode: 0, stdout: 'True True False\r\n1\r\n', stderr: '' });
});

test.runIf(process.arch === 'x64')('the calls of 32-bit programs are refused', async () => {
  expect(await python(['syscall(0x40000000 + 39)'])).toEqual(['EPERM']);
});

test('in /proc and /sys, a command can write only to its own processes', async () => {
  const { stdout } = await world.bash(
    "find /proc /sys -writable -type f -not -path '/proc/[0-9]*' 2>/dev/null | head -20 | tr '\\n' ' '",
  );
  const written = await world.bash(
    `for file in ${stdout} /proc/sys/kernel/core_pattern; do (echo < $file >> $file) 2>/dev/null && echo $file; done`,
  );
  expect(written.stdout).toBe('');
});

test('processes outside cannot be seen or killed', async () => {
  const outside = spawn('sleep', ['60']);
  const { stdout } = await world.bash(
    `kill -9 ${outside.pid}; ls -d /proc/[0-9]* | wc -l; cat /proc/${process.pid}/environ; ls /proc/${process.pid}/root`,
  );
  expect(Number(stdout)).toBeLessThan(10);
  expect(outside.exitCode).toBe(null);
  outside.kill();
});

test('a command has no open files of the server except its input and output', async () => {
  expect((await world.bash('ls /proc/self/fd')).stdout).toBe('0\n1\n2\n3\n');
  expect((await world.bash('readlink /proc/self/fd/3')).stdout).toBe('');
});

describe('without network', () => {
  test('a listener on this machine cannot be reached, but a listener of the command can', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : null;
    const own = `
import socket
try: socket.create_connection(('127.0.0.1', ${port}), 2)
except OSError as error: print(error.strerror)
listener = socket.create_server(('127.0.0.1', 0))
print(socket.create_connection(listener.getsockname()).getpeername()[0])
try: socket.create_connection(('192.0.2.1', 80), 2)
except OSError as error: print(error.strerror)
`;
    const { stdout } = await world.run(['python3', '-c', own]);
    server.close();
    expect(stdout).toBe('Connection refused\n127.0.0.1\nNetwork is unreachable\n');
  });
});

test('with network, a listener on this machine can be reached', async () => {
  const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  const { stdout } = await world.bash(`cat < /dev/tcp/127.0.0.1/${port}`, { network: true });
  server.close();
  expect(stdout).toBe('hello');
});

describe.each([false, true])('without unixSockets, with network: %s', (network) => {
  test('no socket reaches a program by a path or an abstract name: docker, D-Bus, ssh-agent, X11', async () => {
    const host = await unixListeners();
    const calls = [
      ...['STREAM', 'DGRAM', 'SEQPACKET', 'RAW'].map(
        (type) => `socket.socket(socket.AF_UNIX, socket.SOCK_${type})`,
      ),
      ...['DGRAM', 'RAW'].map((type) => `send_from_pair(socket.SOCK_${type}, b'${host.path}')`),
      'socket.socketpair()',
      'socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)',
      ...['STREAM', 'SEQPACKET'].map(
        (type) => `send_from_pair(socket.SOCK_${type}, b'${host.path}')`,
      ),
      ...['STREAM', 'SEQPACKET'].map(
        (type) => `connect_pair(socket.SOCK_${type}, b'${host.path}')`,
      ),
    ];
    const answers = await python(calls, { network });
    expect(await host.received()).toBe('');
    expect(answers).toEqual([
      ...Array(6).fill('EPERM'),
      'done',
      'done',
      'EINVAL',
      'EINVAL',
      'EISCONN',
      'EISCONN',
    ]);
  });

  test('sockets are created by a list of families and types, whatever is in the high halves of the arguments', async () => {
    const script = `
import ctypes, itertools, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pair = (ctypes.c_int * 2)()
def allowed(number):
    for family, kind, flags, high in itertools.product(range(64), range(16), (0, 0x80800, 0x400, 0x100000), (0, 1 << 32)):
        made = libc.syscall(*map(ctypes.c_ulong, (number, high + family, high + (kind | flags), high)), pair)
        if made >= 0 or ctypes.get_errno() != 1: yield family, kind, flags
        for file in [made] if made > 0 else pair if made == 0 else []: os.close(file)
for number in sys.argv[1:]: print(sorted(set(allowed(int(number)))))
`;
    const { socket = 0, socketpair = 0 } = SECCOMP_NUMBERS[process.arch] ?? {};
    const { stdout, stderr } = await world.run(
      ['python3', '-c', script, String(socket), String(socketpair)],
      { network },
    );
    expect(stderr).toBe('');
    const withFlags = (pairs: string[]) =>
      pairs.flatMap((pair) => [`(${pair}, 0)`, `(${pair}, 526336)`]).join(', ');
    const single = withFlags(['2, 1', '2, 2', '10, 1', '10, 2', '16, 2', '16, 3']);
    expect(stdout).toBe(`[${single}]\n[${withFlags(['1, 1', '1, 5'])}]\n`);
  });

  test('UDP on the loopback works, and sendto takes no address of another size', async () => {
    const calls = [
      ...["'127.0.0.1'", "'::1'"].map((address) => `loopback(${address})`),
      "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
      ...[2, 11, 20, 110].map(
        (size) => `call('sendto', udp(), b'x', 1, 0, bytes([1, 0]) + b'/' * 128, ${size})`,
      ),
      `call('sendto', udp(), b'x', 1, 0, ctypes.c_void_p(1 << 32), 20)`,
    ];
    expect(await python(calls, { network })).toEqual([
      'done',
      'done',
      'done',
      'EPERM',
      'EPERM',
      'EPERM',
      'EPERM',
      'EPERM',
    ]);
  });
});

test('with unixSockets, a command reaches listeners in the file system, without network too', async () => {
  const host = await unixListeners();
  const calls = [
    `send_from_pair(socket.SOCK_DGRAM, b'${host.path}')`,
    `socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'second', b'${host.path}')`,
    'socket.socket(socket.AF_UNIX)',
    'socket.socket(40, socket.SOCK_STREAM)',
  ];
  expect(await python(calls, { unixSockets: true })).toEqual(['done', 'done', 'done', 'EPERM']);
  expect(await host.received()).toBe('first second ');
});

test('system calls that the filter does not know do not exist', async () => {
  expect(
    await python([470, 511, 521, 9999].map((number) => `syscall(${number}, 0, 0, 0)`)),
  ).toEqual(Array(4).fill('ENOSYS'));
});

test('common operations of programs still work', async () => {
  const commands = [
    'git init -q sub && cd sub && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m one && git log --format=%s',
    'npm --version > /dev/null && echo npm',
    `node -e "require('child_process').execFileSync('echo', ['node'], { stdio: 'inherit' }); require('os').networkInterfaces()"`,
    `node -e "new (require('worker_threads').Worker)('console.log(1)', { eval: true })"`,
    `python3 -c "import subprocess; print(subprocess.run(['echo', 'python'], capture_output=True).stdout.decode().strip())"`,
    `python3 -c "import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))"`,
    'cat <(echo substitution)',
    'test -f "$(TMPDIR=. mktemp)" && echo mktemp',
    'tar cf - sub | tar tf - > /dev/null && echo tar',
    'cp -a /bin/true copy && ./copy && chmod 755 copy && echo copy',
    '(sleep 5 & kill $!; wait $!; echo $?)',
    'mkfifo pipe; echo fifo > pipe & cat pipe; wait',
    'echo stderr >&2; echo null > /dev/null; head -c 1 /dev/urandom | wc -c',
  ];
  const { stdout, stderr } = await world.bash(
    commands.map((command) => `( ${command} )`).join('\n'),
  );
  expect({ stdout, stderr }).toEqual({
    stdout: 'one\nnpm\nnode\n1\npython\n[1, 2]\nsubstitution\nmktemp\ntar\ncopy\n143\nfifo\n1\n',
    stderr: 'stderr\n',
  });
});
