import { type ModeCall, SECCOMP_NUMBERS } from './seccomp-numbers.ts';

/** The choices that a filter is made with. */
export interface SeccompOptions {
  /** The processor, as Node names it. */
  arch: string;
  /**
   * Whether the process can use all kinds of unix sockets, including those of other programs in the
   * file system.
   */
  unixSockets: boolean;
}

interface Instruction {
  code: number;
  /** The number of instructions to skip if the condition is true, and if it is false. */
  ifTrue: number;
  ifFalse: number;
  value: number;
}

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP = 0x05;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_OR_EQUAL = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

const NUMBER_OFFSET = 0;
const ARCH_OFFSET = 4;
const ARGUMENTS_OFFSET = 16;
const ARGUMENT_BYTES = 8;

const ALLOW = 0x7fff_0000;
const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;

const X32_BIT = 0x4000_0000;
/**
 * file_setattr. Newer calls have not been checked. Older kernels have the x32 form of some calls at
 * higher numbers, without the bit.
 */
const NEWEST_KNOWN = 469;
const SET_ID_BITS = 0o6000;
/** O_CREAT and O_TMPFILE. */
const CREATING_FLAGS = 0x40_0040;
/** Every CLONE_NEW* that clone itself takes. */
const CLONE_NAMESPACES = 0x7e02_0000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const SOCK_SEQPACKET = 5;
/** SOCK_NONBLOCK and SOCK_CLOEXEC, which are added to the type. */
const SOCKET_FLAGS = 0x8_0800;
/** The default, ICMP (`ping` uses it with SOCK_DGRAM), TCP, UDP, ICMPv6 and MPTCP. */
const INTERNET_PROTOCOLS = [0, 1, 6, 17, 58, 262];
const NETLINK_ROUTE = 0;
/**
 * The sizes of no address, and of the addresses for netlink, IPv4, IPv6 and sockaddr_storage, which
 * is too large for AF_UNIX.
 */
const ADDRESS_BYTES = [0, 12, 16, 28, 128];
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const F_SETLEASE = 1024;
const F_SETDELEG = 1040;

/**
 * Returns a BPF program for `seccomp`. Refused system calls fail with EPERM, newer ones than the
 * filter knows fail with ENOSYS, all others are allowed. It refuses calls that change namespaces,
 * access other processes or the kernel, inject input into a terminal, make a file set-user-id, or
 * hold up whoever opens or changes a file (leases and delegations, which need no right to write).
 * Sockets are allowed by a list of families and types. Returns null if the processor is not
 * supported.
 *
 * Without `unixSockets`, the only unix sockets of a process are pairs that are connected to each
 * other, of the types that can neither be connected again nor send to an address. So `sendmsg`
 * needs no rule. It cannot have one either: its address is in memory, which a filter cannot read.
 * The rule for `sendto` is a second one, and not complete: some unix addresses have an allowed
 * size.
 *
 * The filter does not depend on the network. A program in the sandbox that forwards connections to
 * one socket outside can get a filter with `unixSockets`, and the command that it starts a filter
 * without.
 */
export function seccompFilter({ arch, unixSockets }: SeccompOptions): Buffer | null {
  const calls = SECCOMP_NUMBERS[arch];
  if (calls === undefined) return null;
  const program = [
    load(ARCH_OFFSET),
    ...unlessEqual(calls.auditArch, EPERM),
    load(NUMBER_OFFSET),
    ...fromNumber(X32_BIT, EPERM),
    ...fromNumber(NEWEST_KNOWN + 1, ENOSYS),
    ...calls.refused.flatMap((number) => whenEqual(number, EPERM)),
    ...calls.unknown.flatMap((number) => whenEqual(number, ENOSYS)),
    ...inCase(calls.clone, refuseBits(0, CLONE_NAMESPACES)),
    ...inCase(calls.ioctl, [
      loadArgument(1),
      ...whenEqual(TIOCSTI, EPERM),
      ...whenEqual(TIOCLINUX, EPERM),
      give(ALLOW),
    ]),
    ...inCase(calls.fcntl, [
      loadArgument(1),
      ...whenEqual(F_SETLEASE, EPERM),
      ...whenEqual(F_SETDELEG, EPERM),
      give(ALLOW),
    ]),
    ...calls.modes.flatMap((call) => inCase(call.number, refuseSetId(call))),
    ...inCase(calls.socket, socketRules(unixSockets)),
    ...inCase(calls.socketpair, socketPairRules(unixSockets)),
    ...(unixSockets ? [] : inCase(calls.sendto, addressRules())),
    give(ALLOW),
  ];
  return Buffer.concat(program.map(encode));
}

/**
 * Of netlink, allows only listing the interfaces. Raw sockets would need a capability, which no
 * confined process has.
 */
function socketRules(unixSockets: boolean): Instruction[] {
  const internet = [
    ...requireType(SOCK_STREAM, SOCK_DGRAM),
    ...requireArgument(2, INTERNET_PROTOCOLS),
    give(ALLOW),
  ];
  return [
    loadArgument(0),
    ...inCase(AF_INET, internet),
    ...inCase(AF_INET6, internet),
    ...inCase(AF_NETLINK, [
      ...requireType(SOCK_RAW, SOCK_DGRAM),
      ...requireArgument(2, [NETLINK_ROUTE]),
      give(ALLOW),
    ]),
    ...(unixSockets
      ? inCase(AF_UNIX, [...requireType(SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET), give(ALLOW)])
      : []),
    give(EPERM),
  ];
}

/**
 * A datagram socket of a pair could still send to any address. The kernel takes SOCK_RAW as
 * SOCK_DGRAM.
 */
function socketPairRules(unixSockets: boolean): Instruction[] {
  const types = unixSockets
    ? [SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM]
    : [SOCK_STREAM, SOCK_SEQPACKET];
  return [...requireArgument(0, [AF_UNIX]), ...requireType(...types), give(ALLOW)];
}

/** Allows a null address, and addresses of the allowed families by their size. */
function addressRules(): Instruction[] {
  return [
    loadArgument(5),
    ...ADDRESS_BYTES.flatMap((bytes) => whenEqual(bytes, ALLOW)),
    loadArgument(4),
    ...unlessEqual(0, EPERM),
    loadHighHalf(4),
    ...unlessEqual(0, EPERM),
    give(ALLOW),
  ];
}

function requireType(...types: number[]): Instruction[] {
  return requireArgument(1, types, SOCKET_FLAGS);
}

/** Refuses the call unless the argument, without the ignored bits, is one of the values. */
function requireArgument(index: number, values: readonly number[], ignoredBits = 0): Instruction[] {
  return [
    loadArgument(index),
    { code: AND, ifTrue: 0, ifFalse: 0, value: ~ignoredBits >>> 0 },
    ...values.map((value, at) => ({
      code: JUMP_EQUAL,
      ifTrue: values.length - at,
      ifFalse: 0,
      value,
    })),
    give(EPERM),
  ];
}

function refuseSetId({ mode, flags }: ModeCall): Instruction[] {
  const whereGiven =
    flags === null
      ? []
      : [
          loadArgument(flags),
          { code: JUMP_ANY_BIT, ifTrue: 1, ifFalse: 0, value: CREATING_FLAGS },
          give(ALLOW),
        ];
  return [...whereGiven, ...refuseBits(mode, SET_ID_BITS)];
}

function refuseBits(argument: number, bits: number): Instruction[] {
  return [
    loadArgument(argument),
    { code: JUMP_ANY_BIT, ifTrue: 0, ifFalse: 1, value: bits },
    give(EPERM),
    give(ALLOW),
  ];
}

function whenEqual(value: number, result: number): Instruction[] {
  return [{ code: JUMP_EQUAL, ifTrue: 0, ifFalse: 1, value }, give(result)];
}

function unlessEqual(value: number, result: number): Instruction[] {
  return [{ code: JUMP_EQUAL, ifTrue: 1, ifFalse: 0, value }, give(result)];
}

function fromNumber(value: number, result: number): Instruction[] {
  return [{ code: JUMP_GREATER_OR_EQUAL, ifTrue: 0, ifFalse: 1, value }, give(result)];
}

/**
 * If the loaded value is `value`, applies the rules. They must end with a return, because they load
 * other values.
 */
function inCase(value: number, rules: Instruction[]): Instruction[] {
  const skip = { code: JUMP, ifTrue: 0, ifFalse: 0, value: rules.length };
  return [{ code: JUMP_EQUAL, ifTrue: 1, ifFalse: 0, value }, skip, ...rules];
}

function load(offset: number): Instruction {
  return { code: LOAD_WORD, ifTrue: 0, ifFalse: 0, value: offset };
}

/**
 * Loads the low half of an argument. The kernel ignores the high half of all arguments checked
 * here, except of addresses.
 */
function loadArgument(index: number): Instruction {
  return load(ARGUMENTS_OFFSET + ARGUMENT_BYTES * index);
}

function loadHighHalf(index: number): Instruction {
  return load(ARGUMENTS_OFFSET + ARGUMENT_BYTES * index + ARGUMENT_BYTES / 2);
}

function give(value: number): Instruction {
  return { code: RETURN, ifTrue: 0, ifFalse: 0, value };
}

function encode({ code, ifTrue, ifFalse, value }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
