import type { Env } from '../../base/env.ts';
import type { Log } from '../../base/log.ts';
import { openFor } from '../command-line/option-error.ts';
import { isLogLevel, type LogLevel, lazyLog } from './lazy-log.ts';
import { logToFile, logToStream } from './log-to-file.ts';

interface LogOptions {
  /** Null: `HEDDLE_LOG` decides, else `byDefault`. */
  logLevel: LogLevel | null;
  /** Null: the log goes to `stderr`. */
  logFile: string | null;
  byDefault: LogLevel;
}

/** The log of the process. Throws an OptionError if the file cannot be opened. */
export function createLog(
  { logLevel, logFile, byDefault }: LogOptions,
  env: Env,
  stderr: Parameters<typeof logToStream>[0],
): Log {
  const fromEnv = env.HEDDLE_LOG ?? '';
  const level = logLevel ?? (isLogLevel(fromEnv) ? fromEnv : byDefault);
  return lazyLog(
    level,
    logFile === null ? logToStream(stderr) : openFor('--log-file', logFile, logToFile),
  );
}
