import { isAbsolute } from 'node:path';
import type { ClientChannel } from '../agent/client-channel.ts';
import { environmentPolicy } from '../config/environment-policy.ts';
import { commandEnvironment } from '../policy/command/command-environment.ts';
import { emptyProcessHandle } from '../protocol/errors/process-errors.ts';
import type { ProcessSpawnParams } from '../protocol/generated/types.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import {
  changedEnvironment,
  checkRunParams,
  resize,
  terminalOf,
  writeToClientProcess,
} from './client-processes/check-run-params.ts';
import type { ClientProcess } from './client-processes/client-process.ts';
import type { ProcessName } from './client-processes/client-processes.ts';
import { type ClientProcessServices, OUTPUT_BYTES_DEFAULT, TIMEOUT_MS_DEFAULT } from './command.ts';
import { type MethodTable, unqueued } from './requested/method.ts';

export function processMethods(deps: ClientProcessServices) {
  const { clientProcesses } = deps;
  return {
    'process/spawn': {
      order: unqueued,
      async handle(params, { caller, after }) {
        const run = startProcess(params, caller.id, deps);
        const running = await run.begun;
        // Output is announced after the response.
        running.pause();
        after(() => {
          running.resume();
          void announceEnd(run, params.processHandle, deps.clients);
        });
        return {};
      },
    },

    'process/writeStdin': {
      order: unqueued,
      async handle({ processHandle, deltaBase64, closeStdin }, { caller }) {
        const run = clientProcesses.require(caller.id, named(processHandle));
        await writeToClientProcess(run, {
          method: 'process/writeStdin',
          id: processHandle,
          deltaBase64,
          closeStdin,
        });
        return {};
      },
    },

    'process/resizePty': {
      order: unqueued,
      async handle({ processHandle, size }, { caller }) {
        const run = clientProcesses.require(caller.id, named(processHandle));
        await resize(run, { method: 'process/resizePty', id: processHandle, size });
        return {};
      },
    },

    'process/kill': {
      order: unqueued,
      handle({ processHandle }, { caller, after }) {
        const run = clientProcesses.require(caller.id, named(processHandle));
        after(() => void run.kill());
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Throws an RpcError if the params contradict each other, or the handle is taken. */
function startProcess(
  params: ProcessSpawnParams,
  connection: number,
  deps: ClientProcessServices,
): ClientProcess {
  const {
    processHandle,
    command: argv,
    cwd,
    timeoutMs = TIMEOUT_MS_DEFAULT,
    outputBytesCap = OUTPUT_BYTES_DEFAULT,
  } = params;
  checkRunParams('process/spawn', params);
  if (processHandle === '') throw emptyProcessHandle();
  if (!isAbsolute(cwd)) throw invalidParams(`params.cwd: "${cwd}" is not an absolute path`);
  const terminal = terminalOf(params);
  const { clientProcesses, clients } = deps;
  return clientProcesses.start(named(processHandle), {
    connection,
    argv,
    cwd,
    input: params.streamStdin === true || terminal !== null,
    terminal,
    timeoutMs,
    outputBytesCap,
    onOutput:
      params.streamStdoutStderr === true || terminal !== null
        ? (delta) =>
            clients.publish({ connection }, 'process/outputDelta', { processHandle, ...delta })
        : null,
    rights: rightsOf(params.env ?? {}, deps),
  });
}

/** Never rejects. */
async function announceEnd(
  run: ClientProcess,
  processHandle: string,
  clients: ClientChannel,
): Promise<void> {
  const { exitCode, output, allRead } = await run.ended;
  clients.publish({ connection: run.spec.connection }, 'process/exited', {
    processHandle,
    exitCode,
    stdout: output.text('stdout'),
    stdoutCapReached: output.capReached('stdout'),
    stderr: output.text('stderr'),
    stderrCapReached: output.capReached('stderr'),
    outputDrainTimedOut: !allRead,
  });
}

function named(id: string): ProcessName {
  return { what: 'process handle', id };
}

/** These processes run outside the sandbox. */
async function rightsOf(
  changes: Record<string, string | null>,
  { env, config }: ClientProcessServices,
) {
  const base = commandEnvironment(env, environmentPolicy(await config()));
  return { env: changedEnvironment(base.env, changes), bounds: null, network: null };
}
