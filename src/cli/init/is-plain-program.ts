import { basename } from 'node:path';
import { isPlain, isPlainName, isPlainVariable, isThere } from './is-plain.ts';

type Check = (text: string) => boolean;

const isPackage: Check = (text) =>
  /^(?:@[a-z\d][\w.-]*\/)?[a-z\d][\w.-]*(?:@[\w.-]+)?$/.test(text) && isPlain(text);
const isImage: Check = (text) => /^[a-z\d][a-z\d._/-]*(?::[\w.-]+)?$/.test(text) && isPlain(text);
const isModule: Check = (text) =>
  /^[a-z_][a-z\d_]*(?:\.[a-z_][a-z\d_]*)*$/.test(text) && isPlain(text);
const isPort: Check = (text) => /^\d{1,5}$/.test(text);
const isTransport: Check = (text) => ['stdio', 'http', 'sse', 'streamable-http'].includes(text);

/** The first argument of programs that run another one: its name. */
const RUNS: Readonly<Record<string, Check>> = {
  npx: isPackage,
  pnpx: isPackage,
  bunx: isPackage,
  pnpm: isPackage,
  yarn: isPackage,
  bun: isPackage,
  uvx: isPackage,
  uv: isPackage,
  pipx: isPackage,
  docker: isImage,
  podman: isImage,
};

/** Arguments without a value. */
const ALONE: ReadonlySet<string> = new Set([
  ...[
    '-y',
    '--yes',
    '-q',
    '--quiet',
    '-i',
    '-t',
    '-it',
    '--rm',
    '--init',
    '--interactive',
    '--stdio',
    '--no-sandbox',
    '-u',
    '--',
  ],
  ...['mcp', 'mcp-server', 'server', 'serve', 'start', 'stdio', 'run', 'dlx', 'exec', 'x', 'tool'],
]);

/** Options, with the check of their values. Every other option may have a secret. */
const WITH_VALUE: Readonly<Record<string, Check>> = {
  '-m': isModule,
  '-e': isPlainVariable,
  '--env': isPlainVariable,
  '-p': isPackage,
  '--package': isPackage,
  '--from': isPackage,
  '--with': isPackage,
  '--port': isPort,
  '--transport': isTransport,
  '--directory': isThere,
};

/**
 * Whether a program and all its arguments are known to have no secret: an argument is one of a
 * list, the name of the program that a runner starts, or the path of something that exists.
 */
export function isPlainProgram([program = '', ...args]: readonly string[]): boolean {
  if (!isProgram(program)) return false;
  const name = basename(program);
  const rest: string[] = [...args];
  let runs = Object.hasOwn(RUNS, name) ? RUNS[name] : undefined;
  while (rest.length > 0) {
    if (takeOption(rest)) continue;
    if (runs?.(rest.shift() ?? '') !== true) return false;
    runs = undefined;
  }
  return true;
}

/**
 * Removes the first argument, with its value, if it is known to be no secret. Else returns false.
 */
function takeOption(args: string[]): boolean {
  const [first = '', second] = args;
  if (ALONE.has(first) || isThere(first)) return args.splice(0, 1).length > 0;
  const equals = first.indexOf('=');
  const [option, value, count] =
    equals === -1 ? [first, second, 2] : [first.slice(0, equals), first.slice(equals + 1), 1];
  const isValue = Object.hasOwn(WITH_VALUE, option) ? WITH_VALUE[option] : undefined;
  return value !== undefined && isValue?.(value) === true && args.splice(0, count).length > 0;
}

function isProgram(text: string): boolean {
  return isThere(text) || (/^(?:~?\/)?[\w./+@-]+$/.test(text) && isPlainName(text));
}

/**
 * The same for a line of a shell that starts one program, without anything else that a shell can
 * do.
 */
export function isPlainCommand(line: string): boolean {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  const isSimple = /^(?:(?:"[^"]*"|'[^']*'|[^\s"']+)(?:\s+|$))+$/.test(line.trimStart());
  return isSimple && !/[`;&|<>()=\\\n]|\$(?!HOME\b|\{HOME\})/.test(line) && isPlainProgram(words);
}
