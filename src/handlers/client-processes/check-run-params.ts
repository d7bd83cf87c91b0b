import {
  contradictoryParams,
  noTerminal,
  stdinClosed,
  stdinNotStreamed,
} from '../../protocol/errors/process-errors.ts';
import { emptyField } from '../../protocol/rpc-error.ts';
import type { RunningProcess, TerminalSize } from '../../sandbox/processes/processes.ts';
import type { ClientProcess } from './client-process.ts';

const SIZE_DEFAULT: TerminalSize = { rows: 24, cols: 80 };

interface RunParams {
  command: string[];
  timeoutMs?: number | null;
  tty?: boolean | null;
  size?: TerminalSize | null;
  env?: Record<string, string | null> | null;
}

/** Throws if the params of `method` contradict each other or have no meaning. */
export function checkRunParams(
  method: string,
  { command, timeoutMs, tty, size, env }: RunParams,
): void {
  if (command.length === 0) throw emptyField('empty_command', 'command');
  if (timeoutMs !== null && timeoutMs !== undefined && timeoutMs < 0)
    throw contradictoryParams(`${method} timeoutMs must be non-negative, got ${timeoutMs}`);
  if (size && tty !== true) throw contradictoryParams(`${method} size requires tty: true`);
  if (size) checkSize(method, size);
  for (const name of Object.keys(env ?? {})) {
    if (name === '' || /[=\0]/.test(name))
      throw contradictoryParams(
        `${method} env: ${JSON.stringify(name)} is not a valid variable name`,
      );
  }
}

/** The terminal that the params ask for; null if they ask for none. */
export function terminalOf({ tty, size }: RunParams): TerminalSize | null {
  return tty === true ? (size ?? SIZE_DEFAULT) : null;
}

/** Throws for a size that no terminal can have. */
function checkSize(method: string, { rows, cols }: TerminalSize): void {
  if (rows === 0 || cols === 0)
    throw contradictoryParams(`${method} size: rows and cols must be greater than 0`);
}

/** The environment with a client's changes. A null removes the variable. */
export function changedEnvironment(
  env: Readonly<Record<string, string>>,
  changes: Record<string, string | null>,
): Record<string, string> {
  const changed: Record<string, string> = { ...env };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete changed[name];
    else changed[name] = value;
  }
  return changed;
}

interface Writing {
  method: string;
  id: string;
  deltaBase64?: string | null | undefined;
  closeStdin?: boolean | null | undefined;
}

/**
 * Writes to the process's stdin, or closes it, or both. Resolves when the bytes are written to the
 * process, or it is gone. Rejects if the params are invalid, or if stdin cannot be written to.
 */
export async function writeToClientProcess(
  run: ClientProcess,
  { method, id, deltaBase64, closeStdin }: Writing,
): Promise<void> {
  const delta = deltaBase64 ?? null;
  if (delta === null && closeStdin !== true)
    throw contradictoryParams(`${method} needs deltaBase64 or closeStdin`);
  const bytes = await run.decoded(delta);
  if (delta !== null && bytes === null)
    throw contradictoryParams(`${method} deltaBase64 is not valid base64`);
  if (!run.spec.input) throw stdinNotStreamed(id);
  // Closing stdin again changes nothing.
  if (run.inputClosed && bytes === null) return;
  if (run.inputClosed) throw stdinClosed(id);
  run.inputClosed = closeStdin === true;
  const running = await run.begun;
  const written = bytes === null ? null : running.write(bytes);
  if (closeStdin === true) running.endInput();
  await written;
}

/** Resizes the process's terminal. Rejects if it has none, or if the size is invalid. */
export async function resize(
  run: ClientProcess,
  { method, id, size }: { method: string; id: string; size: TerminalSize },
): Promise<void> {
  checkSize(method, size);
  if (run.spec.terminal === null) throw noTerminal(id);
  const running: RunningProcess = await run.begun;
  running.resize(size);
}
