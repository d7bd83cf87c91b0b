import { resolve } from 'node:path';
import type { ClientChannel } from '../agent/client-channel.ts';
import type { Env } from '../base/env.ts';
import type { Config } from '../config/config.ts';
import { configuredSandboxPolicy } from '../config/configured-sandbox-policy.ts';
import { environmentPolicy } from '../config/environment-policy.ts';
import { profileFiles } from '../config/profile-files.ts';
import { commandEnvironment } from '../policy/command/command-environment.ts';
import { hostLoopback } from '../policy/network/host-loopback.ts';
import {
  defaultPermissionProfile,
  managedNetworkRule,
  type NamedSandbox,
  permissionProfile,
  unixSocketRule,
} from '../policy/permissions/permission-profile.ts';
import { checkRequired } from '../policy/permissions/required/check-required.ts';
import { withRequiredHidden } from '../policy/permissions/required/required-hidden.ts';
import { tempDirOf } from '../policy/permissions/temp-dir-of.ts';
import { contradictoryParams, needsProcessId } from '../protocol/errors/process-errors.ts';
import type { CommandExecParams, CommandExecResponse } from '../protocol/generated/types.ts';
import { invalidParams, notServed } from '../protocol/rpc-error.ts';
import {
  changedEnvironment,
  checkRunParams,
  resize,
  terminalOf,
  writeToClientProcess,
} from './client-processes/check-run-params.ts';
import type { ClientProcessRights } from './client-processes/client-process.ts';
import type { ClientProcesses, ProcessName } from './client-processes/client-processes.ts';
import { execBounds } from './client-processes/exec-bounds.ts';
import { checkRequestedSandbox } from './requested/check-requested-sandbox.ts';
import { type MethodTable, type RequestContext, unqueued } from './requested/method.ts';

/** The timeout of a command whose request sets none. */
export const TIMEOUT_MS_DEFAULT = 10_000;
/** The limit for the output of each stream if the request sets none. */
export const OUTPUT_BYTES_DEFAULT = 1024 * 1024;

export interface ClientProcessServices {
  clientProcesses: ClientProcesses;
  clients: ClientChannel;
  /**
   * The configuration for a folder, by default the server's working directory. Reads the files at
   * each call.
   */
  config: (cwd?: string) => Promise<Config>;
  /** The absolute path of the server's working directory. */
  cwd: string;
  home: string;
  env: Env;
}

export function commandMethods(deps: ClientProcessServices) {
  const { clientProcesses } = deps;
  return {
    'command/exec': {
      order: unqueued,
      handle(params, { caller }) {
        const run = startRun(params, caller, deps);
        return run.ended.then(
          ({ exitCode, output }): CommandExecResponse => ({
            exitCode,
            stdout: output.text('stdout'),
            stderr: output.text('stderr'),
          }),
        );
      },
    },

    'command/exec/write': {
      order: unqueued,
      async handle({ processId, deltaBase64, closeStdin }, { caller }) {
        const run = clientProcesses.require(caller.id, named(processId));
        await writeToClientProcess(run, {
          method: 'command/exec/write',
          id: processId,
          deltaBase64,
          closeStdin,
        });
        return {};
      },
    },

    'command/exec/resize': {
      order: unqueued,
      async handle({ processId, size }, { caller }) {
        await resize(clientProcesses.require(caller.id, named(processId)), {
          method: 'command/exec/resize',
          id: processId,
          size,
        });
        return {};
      },
    },

    'command/exec/terminate': {
      order: unqueued,
      handle({ processId }, { caller, after }) {
        const run = clientProcesses.require(caller.id, named(processId));
        after(() => void run.kill());
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

function startRun(
  params: CommandExecParams,
  caller: RequestContext['caller'],
  deps: ClientProcessServices,
) {
  const { clientProcesses, clients } = deps;
  checkParams(params);
  const { processId = null } = params;
  const terminal = terminalOf(params);
  const streamed = (params.streamStdoutStderr === true || terminal !== null) && processId !== null;
  const audience = { connection: caller.id };
  const cwd = resolve(deps.cwd, params.cwd ?? '');
  return clientProcesses.start(processId === null ? null : named(processId), {
    connection: caller.id,
    argv: params.command,
    cwd,
    input: params.streamStdin === true || terminal !== null,
    terminal,
    timeoutMs: params.disableTimeout === true ? null : (params.timeoutMs ?? TIMEOUT_MS_DEFAULT),
    outputBytesCap:
      params.disableOutputCap === true ? null : (params.outputBytesCap ?? OUTPUT_BYTES_DEFAULT),
    onOutput: streamed
      ? (delta) => clients.publish(audience, 'command/exec/outputDelta', { processId, ...delta })
      : null,
    rights: rightsOf(params, cwd, deps),
  });
}

function named(id: string): ProcessName {
  return { what: 'process id', id };
}

function checkParams(params: CommandExecParams): void {
  checkRunParams('command/exec', params);
  const {
    timeoutMs = null,
    outputBytesCap = null,
    processId = null,
    sandboxPolicy = null,
    permissionProfile: profile = null,
  } = params;
  if (timeoutMs !== null && params.disableTimeout === true)
    throw contradictoryParams('command/exec cannot have both timeoutMs and disableTimeout');
  if (outputBytesCap !== null && params.disableOutputCap === true)
    throw contradictoryParams('command/exec cannot have both outputBytesCap and disableOutputCap');
  const streams =
    params.tty === true || params.streamStdin === true || params.streamStdoutStderr === true;
  if (streams && processId === null) throw needsProcessId();
  if (typeof profile === 'object' && profile?.type === 'managed')
    throw notServed('command/exec with a managed permissionProfile');
  checkRequestedSandbox({ sandboxPolicy }, 'sandboxPolicy');
  if (profile !== null && sandboxPolicy !== null)
    throw invalidParams('`permissionProfile` cannot be combined with `sandboxPolicy`');
}

/**
 * The sandbox that the request asks for, else the configured one. Throws if the permission profile
 * does not exist.
 */
function sandboxOf(
  { sandboxPolicy: policy = null, permissionProfile: profile = null }: CommandExecParams,
  config: Config,
): NamedSandbox {
  if (policy !== null) return { sandboxPolicy: policy };
  if (profile === null)
    return defaultPermissionProfile(config) ?? { sandboxPolicy: configuredSandboxPolicy(config) };
  if (typeof profile === 'string') return permissionProfile(config, profile);
  return {
    sandboxPolicy: { type: profile.type === 'external' ? 'externalSandbox' : 'dangerFullAccess' },
  };
}

async function rightsOf(
  params: CommandExecParams,
  cwd: string,
  deps: ClientProcessServices,
): Promise<ClientProcessRights> {
  // The trust in the server's own folder gives nothing in another one.
  const config = await deps.config(cwd);
  const { env } = commandEnvironment(deps.env, environmentPolicy(config));
  const sandbox = withRequiredHidden(sandboxOf(params, config), config);
  checkRequired(config, sandbox);
  const network = managedNetworkRule(config)(sandbox);
  const folders = {
    cwd,
    serverCwd: deps.cwd,
    tempDir: tempDirOf(env),
    home: deps.home,
    hidden: sandbox.hidden,
  };
  return {
    env: changedEnvironment(env, params.env ?? {}),
    bounds: execBounds(sandbox.sandboxPolicy, folders, {
      unixSockets: unixSocketRule(config)(sandbox),
      managesNetwork: network !== null,
      hostLoopback: hostLoopback(network),
      unprotected: config.get('sandbox_workspace_write.unprotected_folders'),
      profileFiles: profileFiles(config),
    }),
    network,
  };
}
