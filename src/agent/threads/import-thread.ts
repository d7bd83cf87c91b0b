import type { ThreadRecord } from '../../store/thread-record.ts';
import type { Services } from '../services.ts';
import { type ImportProgress, importRollout } from './import-rollout.ts';
import { importSession, type SessionImport } from './import-session.ts';

/** The file of a rollout, or a session of another agent. */
export type ImportSource =
  | { path: string; onProgress: (progress: ImportProgress) => void }
  | SessionImport;

/**
 * Stores a thread of another program, and returns its record. `isClosing`: whether the server is
 * being closed, which ends the import.
 */
export function importThread(
  source: ImportSource,
  services: Services,
  isClosing: () => boolean,
): Promise<ThreadRecord> {
  if ('session' in source) return importSession(source, services, isClosing);
  return importRollout(source.path, services, { onProgress: source.onProgress, isClosing });
}
