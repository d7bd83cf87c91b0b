import type { JsonObject } from '../../../base/json-value.ts';
import type { ToolSpec } from '../../../model/model.ts';
import { PERMISSIONS_PARAMETER } from '../../../policy/permissions/read-permissions.ts';
import type { CommandLimits } from './command-limits.ts';

type FunctionSpec = Extract<ToolSpec, { type: 'function' }>;

const NUMBER = { type: 'number' };

/** The specification of `exec_command` for models. */
export function execCommandSpec({
  loginShell,
  tokensMax,
  permissions,
}: CommandLimits): FunctionSpec {
  const login = {
    type: 'boolean',
    description:
      'Run the shell as a login shell, which reads the profile of the user. Default: true.',
  };
  return {
    type: 'function',
    name: 'exec_command',
    description:
      'Runs a command in a shell and returns its output. If the command is still running after yield_time_ms, it continues in the background and you get a session ID for write_stdin.',
    parameters: {
      type: 'object',
      properties: {
        cmd: { type: 'string', description: 'The shell command to run.' },
        workdir: {
          type: 'string',
          description:
            'The working directory of the command. Default: the working directory of the thread, which relative paths start from.',
        },
        shell: {
          type: 'string',
          description: "The shell to use: bash, zsh or sh. Default: the user's shell.",
        },
        ...(loginShell ? { login } : {}),
        tty: {
          type: 'boolean',
          description:
            'Run the command in a terminal, so that you can write to it with write_stdin. Default: false; stdin is then empty.',
        },
        yield_time_ms: {
          ...NUMBER,
          description:
            'How many milliseconds to wait for the command to end before it continues in the background: 250 to 30000. Default: 10000.',
        },
        max_output_tokens: {
          ...NUMBER,
          description: `How many tokens of output to return, at most ${tokensMax}. Default: 2500.`,
        },
        ...sandboxParameters(permissions),
        justification: {
          type: 'string',
          description:
            'If sandbox_permissions is not use_default: the question to ask the user, in one sentence.',
        },
        prefix_rule: {
          type: 'array',
          items: { type: 'string' },
          description:
            'With require_escalated, for a program that only prints: a command prefix that you propose to allow from now on, such as ["ps", "-o"].',
        },
      },
      required: ['cmd'],
      additionalProperties: false,
    },
  };
}

/**
 * The parameters by which a command asks for more than its sandbox allows. `permissions`: whether
 * it may ask for single ones.
 */
function sandboxParameters(permissions: boolean): JsonObject {
  const escalated =
    'require_escalated asks the user for approval to run the command outside the sandbox.';
  if (!permissions)
    return {
      sandbox_permissions: {
        type: 'string',
        enum: ['use_default', 'require_escalated'],
        description: `${escalated} Default: use_default.`,
      },
    };
  return {
    sandbox_permissions: {
      type: 'string',
      enum: ['use_default', 'with_additional_permissions', 'require_escalated'],
      description: `with_additional_permissions asks the user to give the command additional_permissions; it stays in the sandbox. ${escalated} Default: use_default.`,
    },
    additional_permissions: PERMISSIONS_PARAMETER,
  };
}

/** The specification of `write_stdin` for models. */
export function writeStdinSpec({ tokensMax, pollMsMax }: CommandLimits): FunctionSpec {
  return {
    type: 'function',
    name: 'write_stdin',
    description:
      'Writes to a command that runs in the background, or only waits for it. Returns its output since the last report. To stop a command, write "\\u0003" (Ctrl-C), even if it has no terminal.',
    parameters: {
      type: 'object',
      properties: {
        session_id: { ...NUMBER, description: 'The session ID that exec_command returned.' },
        chars: {
          type: 'string',
          description: 'The characters to write. Default: empty, which only waits.',
        },
        yield_time_ms: {
          ...NUMBER,
          description: `How many milliseconds to wait for the command to end. If you write: 250 to 30000, default 250. If chars is empty: 5000 to ${pollMsMax}, default 5000.`,
        },
        max_output_tokens: {
          ...NUMBER,
          description: `How many tokens of output to return, at most ${tokensMax}. Default: 2500.`,
        },
      },
      required: ['session_id'],
      additionalProperties: false,
    },
  };
}
