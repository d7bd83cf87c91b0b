import type { JsonObject } from '../../../base/json-value.ts';
import type { ToolSpec } from '../../../model/model.ts';
import { PERMISSIONS_PARAMETER } from '../../../policy/permissions/read-permissions.ts';
import type { CommandLimits } from '../command-settings.ts';

type FunctionSpec = Extract<ToolSpec, { type: 'function' }>;

const NUMBER = { type: 'number' };

/** How the model is told of `exec_command`. */
export function execCommandSpec({ loginShell, tokensMax, permissions }: CommandLimits): FunctionSpec {
  const login = { type: 'boolean', description: "Whether the shell reads the user's profile first. Default: true." };
  return {
    type: 'function',
    name: 'exec_command',
    description:
      'Runs a command in a shell and gives its output. One that has not ended in time goes on in the background, and is reached with write_stdin by its session ID.',
    parameters: {
      type: 'object',
      properties: {
        cmd: { type: 'string', description: 'The command line.' },
        workdir: { type: 'string', description: "The folder to run it in, relative to the thread's own. Default: that one." },
        shell: { type: 'string', description: "bash, zsh or sh. Default: the user's shell." },
        ...(loginShell ? { login } : {}),
        tty: {
          type: 'boolean',
          description: 'Whether it gets a terminal, which can be written to. Default: false; its input is then empty.',
        },
        yield_time_ms: {
          ...NUMBER,
          description: 'How long to wait for its end before it goes on in the background: 250 to 30000. Default: 10000.',
        },
        max_output_tokens: { ...NUMBER, description: `How much of its output to give, at most ${tokensMax}. Default: 2500.` },
        ...sandboxParameters(permissions),
        justification: {
          type: 'string',
          description: 'Where more than use_default is asked for: the question to the user, in one sentence.',
        },
        prefix_rule: {
          type: 'array',
          items: { type: 'string' },
          description:
            'With require_escalated: the first words of commands that the user could allow from now on, such as ["npm", "test"].',
        },
      },
      required: ['cmd'],
      additionalProperties: false,
    },
  };
}

/** What a command can ask for beyond its sandbox. */
function sandboxParameters(permissions: boolean): JsonObject {
  const escalated = 'require_escalated asks the user to let it run outside the sandbox.';
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
      description: `with_additional_permissions asks the user to let it do what additional_permissions says, in the sandbox. ${escalated} Default: use_default.`,
    },
    additional_permissions: PERMISSIONS_PARAMETER,
  };
}

/** How the model is told of `write_stdin`. */
export function writeStdinSpec({ tokensMax, pollMsMax }: CommandLimits): FunctionSpec {
  return {
    type: 'function',
    name: 'write_stdin',
    description:
      'Writes to a command that runs in the background, or only waits for it, and gives the output that has come since it was last asked. "\\u0003" ends one without a terminal, too.',
    parameters: {
      type: 'object',
      properties: {
        session_id: { ...NUMBER, description: 'The session ID that exec_command gave.' },
        chars: { type: 'string', description: 'What to write. Empty, the default: nothing.' },
        yield_time_ms: {
          ...NUMBER,
          description: `How long to wait for its end: after writing 250 to 30000, by default 250; without 5000 to ${pollMsMax}, by default 5000.`,
        },
        max_output_tokens: { ...NUMBER, description: `How much output to give, at most ${tokensMax}. Default: 2500.` },
      },
      required: ['session_id'],
      additionalProperties: false,
    },
  };
}
