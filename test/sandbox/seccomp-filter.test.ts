import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seccompFilter } from '../../src/sandbox/linux/seccomp-filter.ts';
import { SECCOMP_NUMBERS } from '../../src/sandbox/linux/seccomp-numbers.ts';

const ANSWERS = new Map([
  [0x7fff_0000, 'allowed'],
  [0x0005_0001, 'EPERM'],
  [0x0005_0026, 'ENOSYS'],
]);
const [RETURN, LOAD, AND, JUMP] = [0x06, 0x20, 0x54, 0x05];
const NO_FLAGS_OR_BOTH = [0, 0x800, 0x8_0000, 0x8_0800];

/** The answer of the filter to a system call, by the meaning that the kernel gives to BPF. */
function filterResult(
  filter: Buffer,
  call: { auditArch: number; number: number; args: readonly bigint[] },
): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.auditArch, 4);
  for (const [index, value] of call.args.entries())
    data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [code, value] = [filter.readUInt16LE(at), filter.readUInt32LE(at + 4)];
    if (code === RETURN) return String(ANSWERS.get(value));
    if (code === LOAD) loaded = data.readUInt32LE(value);
    else if (code === AND) loaded = (loaded & value) >>> 0;
    else if (code === JUMP) at += 8 * value;
    else at += 8 * (filter[at + (holds(code, loaded, value) ? 2 : 3)] ?? 0);
  }
  throw new Error('the filter ends without an answer');
}

function holds(code: number, loaded: number, value: number): boolean {
  if (code === 0x15) return loaded === value;
  if (code === 0x35) return loaded >= value;
  if (code === 0x45) return (loaded & value) !== 0;
  throw new Error(`unknown instruction ${code}`);
}

describe.each(Object.entries(SECCOMP_NUMBERS))('the filter for %s', (arch, numbers) => {
  const filters = new Map(
    [false, true].map((unixSockets) => [
      unixSockets,
      seccompFilter({ arch, unixSockets }) ?? Buffer.alloc(0),
    ]),
  );
  const ask = (unixSockets: boolean, number: number, ...args: (number | bigint)[]) =>
    filterResult(filters.get(unixSockets) ?? Buffer.alloc(0), {
      auditArch: numbers.auditArch,
      number,
      args: args.map(BigInt),
    });
  const high = fc.bigInt({ min: 0n, max: 0xffff_ffffn }).map((bits) => bits << 32n);
  const int = fc.oneof(fc.integer({ min: 0, max: 64 }), fc.integer({ min: 0, max: 0xffff_ffff }));
  const type = fc
    .tuple(fc.integer({ min: 0, max: 15 }), fc.oneof(fc.constantFrom(...NO_FLAGS_OR_BOTH), int))
    .map(([a, b]) => (a | b) >>> 0);

  test('allows exactly the listed families, types and protocols of sockets, whatever the high halves of the arguments are', () => {
    const family = fc.oneof(fc.constantFrom(1, 2, 10, 16), int);
    const protocol = fc.oneof(fc.constantFrom(0, 6, 17, 262), int);
    const socket = fc.record({
      unixSockets: fc.boolean(),
      family,
      kind: type,
      protocol,
      bits: high,
    });
    fc.assert(
      fc.property(socket, ({ unixSockets, family, kind, protocol, bits }) => {
        const plain = (kind & ~0x8_0800) >>> 0;
        const internet =
          (family === 2 || family === 10) &&
          [1, 2].includes(plain) &&
          [0, 1, 6, 17, 58, 262].includes(protocol);
        const netlink = family === 16 && [2, 3].includes(plain) && protocol === 0;
        const unix = unixSockets && family === 1 && [1, 2, 5].includes(plain);
        const args = [family, kind, protocol].map((value) => BigInt(value) | bits);
        expect(ask(unixSockets, numbers.socket, ...args)).toBe(
          internet || netlink || unix ? 'allowed' : 'EPERM',
        );
        const pair = family === 1 && (unixSockets ? [1, 2, 5] : [1, 5]).includes(plain);
        expect(ask(unixSockets, numbers.socketpair, ...args)).toBe(pair ? 'allowed' : 'EPERM');
      }),
      { seed: 1, numRuns: 3000 },
    );
  });

  test('without unixSockets, allows sendto without an address, and with an address of an allowed size', () => {
    fc.assert(
      fc.property(high, int, high, (pointer, size, bits) => {
        const allowed = pointer === 0n || [0, 12, 16, 28, 128].includes(size);
        expect(ask(false, numbers.sendto, 3, 1, 1, 0, pointer, BigInt(size) | bits)).toBe(
          allowed ? 'allowed' : 'EPERM',
        );
        expect(ask(true, numbers.sendto, 3, 1, 1, 0, pointer, BigInt(size) | bits)).toBe('allowed');
      }),
      { seed: 1, numRuns: 1000 },
    );
    expect(ask(false, numbers.sendto, 3, 1, 1, 0, 0, 110)).toBe('allowed');
    expect(ask(false, numbers.sendto, 3, 1, 1, 0, 8, 110)).toBe('EPERM');
  });

  test('knows no system call that is newer than the filter, and refuses those of another processor', () => {
    expect([469, 470, 511, 521, 547, 0x3fff_ffff].map((number) => ask(false, number))).toEqual([
      'allowed',
      ...Array(5).fill('ENOSYS'),
    ]);
    expect([0x4000_0000, 0x4000_0029, -1].map((number) => ask(false, number))).toEqual(
      Array(3).fill('EPERM'),
    );
    for (const auditArch of [0x4000_0003, 0x4000_0028, 0])
      expect(
        filterResult(filters.get(true) ?? Buffer.alloc(0), { auditArch, number: 0, args: [] }),
      ).toBe('EPERM');
  });

  test('refuses leases and delegations, and allows all other commands of fcntl', () => {
    const refused = [1024, 1040];
    const known = Array.from({ length: 64 }, (_, index) => [index, 1024 + index]).flat();
    for (const command of known) {
      const expected = refused.includes(command) ? 'EPERM' : 'allowed';
      for (const bits of [0n, 1n << 32n])
        expect(ask(false, numbers.fcntl, 3, BigInt(command) | bits, 0)).toBe(expected);
    }
  });

  test('refuses what its tables list, with and without unixSockets', () => {
    for (const unixSockets of [false, true]) {
      expect(numbers.refused.map((number) => ask(unixSockets, number))).toEqual(
        numbers.refused.map(() => 'EPERM'),
      );
      expect(numbers.unknown.map((number) => ask(unixSockets, number))).toEqual(
        numbers.unknown.map(() => 'ENOSYS'),
      );
    }
  });
});
