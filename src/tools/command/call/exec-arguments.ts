import { resolve } from 'node:path';
import type { Env } from '../../../base/env.ts';
import type { JsonObject, JsonValue } from '../../../base/json-value.ts';
import { isFolder } from '../../../base/paths/is-folder.ts';
import { cutText } from '../../../base/text/cut-text.ts';
import type { GrantedPermissions } from '../../../policy/permissions/sandbox-bounds.ts';
import {
  BadArguments,
  booleanField,
  numberField,
  requireObject,
  stringField,
  stringListField,
} from '../../bad-arguments.ts';
import { wantedPermissions } from '../../wanted-permissions.ts';
import type { CommandCall } from './command-call.ts';
import type { CommandLimits } from './command-limits.ts';
import { OUTPUT_TOKENS_DEFAULT } from './command-limits.ts';
import { findShell, isShellName, shellArgv, userShell } from './user-shell.ts';

const YIELD_MS_DEFAULT = 10_000;
const YIELD_MS_MIN = 250;
const YIELD_MS_MAX = 30_000;
/** Each poll costs a model request, so a poll waits longer than a write. */
const POLL_MS_MIN = 5_000;
const TIMEOUT_MS_DEFAULT = 10_000;
const TIMEOUT_MS_MAX = 60 * 60 * 1000;
const JUSTIFICATION_CHARS_MAX = 4_000;
/** Following a path of thousands of levels blocks the server. */
const WORKDIR_LEVELS_MAX = 256;

export interface ArgumentOptions {
  /** The thread's working directory, an absolute path. */
  cwd: string;
  env: Env;
  /** Heddle's home, an absolute path. */
  home: string;
  limits: CommandLimits;
}

/** Reads the arguments of `exec_command`. Throws BadArguments. */
export function execArguments(args: JsonValue, options: ArgumentOptions): CommandCall {
  const fields = requireObject(args, 'cmd');
  const script = stringField(fields, 'cmd');
  if (script === null) throw new BadArguments('`cmd` is missing: pass the command as a string.');
  return {
    argv: scriptArgv(fields, script, options),
    script,
    ...commonArguments(fields, options),
    tty: booleanField(fields, 'tty') ?? false,
    yields: true,
    waitMs: clamp(
      numberField(fields, 'yield_time_ms') ?? YIELD_MS_DEFAULT,
      YIELD_MS_MIN,
      YIELD_MS_MAX,
    ),
  };
}

/**
 * Reads the arguments of `shell_command` and `shell`, whose command is a string or a list of
 * strings. Throws BadArguments.
 */
export function shellArguments(args: JsonValue, options: ArgumentOptions): CommandCall {
  const fields = requireObject(args, 'command');
  const { command } = fields;
  const argv =
    typeof command === 'string'
      ? scriptArgv(fields, command, options)
      : stringListField(fields, 'command');
  if (argv === null || argv.length === 0)
    throw new BadArguments('`command` is missing: pass a string or a list of strings.');
  checkNoNul(argv);
  return {
    argv,
    script: typeof command === 'string' ? command : scriptOf(argv),
    ...commonArguments(fields, options),
    tty: false,
    yields: false,
    waitMs: clamp(
      numberField(fields, 'timeout_ms') ?? numberField(fields, 'timeout') ?? TIMEOUT_MS_DEFAULT,
      1,
      TIMEOUT_MS_MAX,
    ),
  };
}

/** Reads the arguments of `write_stdin`. Throws BadArguments. */
export function writeArguments(
  args: JsonValue,
  { tokensMax, pollMsMax }: { tokensMax: number; pollMsMax: number },
): { number: number; chars: string; waitMs: number; tokensMax: number } {
  const fields = requireObject(args, 'session_id');
  const session = numberField(fields, 'session_id');
  if (session === null)
    throw new BadArguments('`session_id` is missing: pass the number that exec_command returned.');
  const chars = stringField(fields, 'chars') ?? '';
  const waitMs = numberField(fields, 'yield_time_ms');
  return {
    number: session,
    chars,
    waitMs:
      chars === ''
        ? clamp(waitMs ?? POLL_MS_MIN, Math.min(POLL_MS_MIN, pollMsMax), pollMsMax)
        : clamp(waitMs ?? YIELD_MS_MIN, YIELD_MS_MIN, YIELD_MS_MAX),
    tokensMax: outputTokens(fields, tokensMax),
  };
}

/** The script of an argv that runs a shell with one. Returns null for any other argv. */
function scriptOf([shell = '', option, script, ...others]: readonly string[]): string | null {
  const isShell =
    isShellName(shell) && (option === '-c' || option === '-lc') && others.length === 0;
  return isShell ? (script ?? null) : null;
}

function commonArguments(fields: JsonObject, options: ArgumentOptions) {
  const justification = stringField(fields, 'justification');
  const cwd = workdir(fields, options.cwd);
  return {
    cwd,
    tokensMax: outputTokens(fields, options.limits.tokensMax),
    ...sandboxRequest(fields, { ...options, cwd }),
    justification: justification === null ? null : cutText(justification, JUSTIFICATION_CHARS_MAX),
    prefixRule: stringListField(fields, 'prefix_rule'),
  };
}

function scriptArgv(
  fields: JsonObject,
  script: string,
  { env, limits: { loginShell } }: ArgumentOptions,
): string[] {
  const wanted = stringField(fields, 'shell');
  const shell = wanted === null ? userShell(env) : findShell(wanted, env);
  if (shell === null)
    throw new BadArguments(`\`shell\`: ${wanted} is not available; use bash, zsh or sh.`);
  const login = booleanField(fields, 'login');
  if (login === true && !loginShell)
    throw new BadArguments(
      '`login`: the configuration does not allow login shells (allow_login_shell).',
    );
  const argv = shellArgv(shell, script, { login: login ?? loginShell });
  checkNoNul(argv);
  return argv;
}

function workdir(fields: JsonObject, cwd: string): string {
  const folder = resolve(
    cwd,
    stringField(fields, 'workdir') ?? stringField(fields, 'working_directory') ?? '',
  );
  checkNoNul([folder]);
  if (folder.split('/').length - 1 > WORKDIR_LEVELS_MAX) {
    throw new BadArguments(
      `\`workdir\` has more than ${WORKDIR_LEVELS_MAX} levels: use a folder above it, and change the folder with cd.`,
    );
  }
  if (!isFolder(folder))
    throw new BadArguments(`\`workdir\`: ${folder} is not an existing directory.`);
  return folder;
}

function sandboxRequest(
  fields: JsonObject,
  options: ArgumentOptions,
): Pick<CommandCall, 'escalates' | 'permissions'> {
  const wanted = fields.additional_permissions ?? null;
  const asked = stringField(fields, 'sandbox_permissions') ?? 'use_default';
  switch (asked) {
    case 'require_escalated':
      return { escalates: true, permissions: null };
    case 'with_additional_permissions':
      return { escalates: false, permissions: additionalPermissions(wanted, options) };
    case 'use_default':
      if (booleanField(fields, 'with_escalated_permissions') === true)
        return { escalates: true, permissions: null };
      return {
        escalates: false,
        permissions: wanted === null ? null : additionalPermissions(wanted, options),
      };
    default: {
      const others = options.limits.permissions
        ? '"use_default", "with_additional_permissions"'
        : '"use_default"';
      throw new BadArguments(`\`sandbox_permissions\` must be ${others} or "require_escalated".`);
    }
  }
}

function additionalPermissions(
  wanted: JsonValue,
  { cwd, env, home, limits }: ArgumentOptions,
): GrantedPermissions {
  if (!limits.permissions)
    throw new BadArguments(
      'you cannot ask for permissions for a single command: the configuration does not allow it (features.exec_permission_approvals).',
    );
  const permissions = wantedPermissions(wanted, { cwd, home, userHome: env.HOME ?? null });
  if (typeof permissions === 'string')
    throw new BadArguments(`\`additional_permissions\` ${permissions}.`);
  return permissions;
}

function outputTokens(fields: JsonObject, tokensMax: number): number {
  return clamp(numberField(fields, 'max_output_tokens') ?? OUTPUT_TOKENS_DEFAULT, 1, tokensMax);
}

function checkNoNul(texts: readonly string[]): void {
  if (texts.some((one) => one.includes('\0')))
    throw new BadArguments('the command and `workdir` must not contain NUL characters.');
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(Math.round(value), min), max);
}
