import { type ModeCall, SECCOMP_NUMBERS } from './seccomp-numbers.ts';

/** The choices that a filter is made with. */
export interface SeccompOptions {
  /** The processor, as Node names it. */
  arch: string;
  network: boolean;
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
const SET_ID_BITS = 0o6000;
/** O_CREAT and O_TMPFILE. */
const CREATING_FLAGS = 0x40_0040;
/** Every CLONE_NEW* that clone itself takes. */
const CLONE_NAMESPACES = 0x7e02_0000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const SOCKET_TYPE_MASK = 0xf;
const SOCK_DGRAM = 2;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/**
 * Returns a BPF program for `seccomp`. Refused system calls fail with EPERM, all others are allowed. It refuses calls that change
 * namespaces, access other processes or the kernel, inject input into a terminal, or make a file set-user-id. Without network, it
 * also refuses all sockets except those of the sandbox's own loopback. Returns null if the processor is not supported.
 */
export function seccompFilter({ arch, network }: SeccompOptions): Buffer | null {
  const calls = SECCOMP_NUMBERS[arch];
  if (calls === undefined) return null;
  const program = [
    load(ARCH_OFFSET),
    ...unlessEqual(calls.auditArch, EPERM),
    load(NUMBER_OFFSET),
    { code: JUMP_GREATER_OR_EQUAL, ifTrue: 0, ifFalse: 1, value: X32_BIT },
    give(EPERM),
    ...calls.refused.flatMap((number) => whenEqual(number, EPERM)),
    ...calls.unknown.flatMap((number) => whenEqual(number, ENOSYS)),
    ...whenCalled(calls.clone, refuseBits(0, CLONE_NAMESPACES)),
    ...whenCalled(calls.ioctl, [loadArgument(1), ...whenEqual(TIOCSTI, EPERM), ...whenEqual(TIOCLINUX, EPERM), give(ALLOW)]),
    ...calls.modes.flatMap((call) => whenCalled(call.number, refuseSetId(call))),
    ...whenCalled(calls.socket, socketRules(network)),
    ...(network ? [] : whenCalled(calls.socketpair, refuseDatagrams())),
    give(ALLOW),
  ];
  return Buffer.concat(program.map(encode));
}

/** Allows no socket family that reaches a hypervisor or the kernel's crypto. Of netlink, allows only listing the interfaces. */
function socketRules(network: boolean): Instruction[] {
  const families = network ? [AF_UNIX, AF_INET, AF_INET6] : [AF_INET, AF_INET6];
  return [
    loadArgument(0),
    ...families.flatMap((family) => whenEqual(family, ALLOW)),
    ...unlessEqual(AF_NETLINK, EPERM),
    loadArgument(2),
    ...unlessEqual(NETLINK_ROUTE, EPERM),
    give(ALLOW),
  ];
}

/** A datagram socket from `socketpair` could still send to any address. */
function refuseDatagrams(): Instruction[] {
  return [loadArgument(1), { code: AND, ifTrue: 0, ifFalse: 0, value: SOCKET_TYPE_MASK }, ...whenEqual(SOCK_DGRAM, EPERM), give(ALLOW)];
}

function refuseSetId({ mode, flags }: ModeCall): Instruction[] {
  const whereGiven =
    flags === null ? [] : [loadArgument(flags), { code: JUMP_ANY_BIT, ifTrue: 1, ifFalse: 0, value: CREATING_FLAGS }, give(ALLOW)];
  return [...whereGiven, ...refuseBits(mode, SET_ID_BITS)];
}

function refuseBits(argument: number, bits: number): Instruction[] {
  return [loadArgument(argument), { code: JUMP_ANY_BIT, ifTrue: 0, ifFalse: 1, value: bits }, give(EPERM), give(ALLOW)];
}

function whenEqual(value: number, result: number): Instruction[] {
  return [{ code: JUMP_EQUAL, ifTrue: 0, ifFalse: 1, value }, give(result)];
}

function unlessEqual(value: number, result: number): Instruction[] {
  return [{ code: JUMP_EQUAL, ifTrue: 1, ifFalse: 0, value }, give(result)];
}

/** `rules` must end with a return: after them, the number of the system call is no longer loaded. */
function whenCalled(number: number, rules: Instruction[]): Instruction[] {
  const skip = { code: JUMP, ifTrue: 0, ifFalse: 0, value: rules.length };
  return [{ code: JUMP_EQUAL, ifTrue: 1, ifFalse: 0, value: number }, skip, ...rules];
}

function load(offset: number): Instruction {
  return { code: LOAD_WORD, ifTrue: 0, ifFalse: 0, value: offset };
}

/** Loads the low half of an argument. The kernel ignores the high half of the arguments checked here. */
function loadArgument(index: number): Instruction {
  return load(ARGUMENTS_OFFSET + ARGUMENT_BYTES * index);
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
