import type { Log } from '../base/log.ts';
import { showText } from '../base/text/show-text.ts';
import { describeRepair } from '../store/sqlite/maintenance/lost-records.ts';
import {
  type MaintenanceOptions,
  StoreMaintenance,
} from '../store/sqlite/maintenance/store-maintenance.ts';
import { StoreError } from '../store/store-error.ts';
import type { StoreAction } from './command-line/commands.ts';
import { progressPlace } from './progress/progress-line.ts';
import { RemoteProgress } from './progress/remote-progress.ts';

export interface MaintainStoreOptions {
  action: StoreAction;
  /** The absolute path of the backup of `backup` and `restore`; else null. */
  target: string | null;
  json: boolean;
  /** The database file. */
  file: string;
  migrationsDir: string;
  nodeVersions: MaintenanceOptions['nodeVersions'];
  /** The absolute path of the script that loads workers. */
  workerScript: string;
}

interface Streams {
  print(text: string): void;
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  env: Readonly<Record<string, string | undefined>>;
}

/** The result of an action: for programs, and for people. */
interface Result {
  isWell: boolean;
  fields: object;
  text: string;
}

/**
 * Performs an action on the store and prints the result. Returns false if it failed, or if `check`
 * found damage.
 */
export async function maintainStore(
  { action, target, json, file, migrationsDir, nodeVersions, workerScript }: MaintainStoreOptions,
  { print, stderr, env }: Streams,
): Promise<boolean> {
  const progress = json ? null : new RemoteProgress(workerScript, progressPlace(stderr, env));
  progress?.step('opening the database');
  const log = complainingLog((text) =>
    stderr.write(`${progress?.lineStart ?? ''}heddle: ${showText(text)}\n`),
  );
  const maintenance = new StoreMaintenance({
    file,
    migrationsDir,
    nodeVersions,
    log,
    onProgress: (text) => progress?.step(text),
  });
  try {
    const { isWell, fields, text } = await untilEnd(
      progress,
      perform(maintenance, { action, target: target ?? '', file }),
    );
    print(
      json
        ? `${JSON.stringify({ ok: isWell, ...fields })}\n`
        : `${showText(text, { multiline: true })}\n`,
    );
    return isWell;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const { code, message, details } = error;
    if (json) print(`${JSON.stringify({ ok: false, error: { code, message, ...details } })}\n`);
    else stderr.write(`heddle: ${showText(message, { multiline: true })}\n`);
    return false;
  }
}

/** Waits for the work, and then until its progress is gone. */
async function untilEnd<T>(progress: RemoteProgress | null, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } finally {
    await progress?.end();
  }
}

/** A log for a person, who is told the warnings and errors only. */
function complainingLog(complain: (text: string) => void): Log {
  const tell = (...[first, text]: [object, string] | [string, undefined?]) =>
    complain(typeof first === 'string' ? first : `${text} ${JSON.stringify(first)}`);
  const ignore = () => {};
  return { debug: ignore, info: ignore, warn: tell, error: tell };
}

async function perform(
  maintenance: StoreMaintenance,
  { action, target, file }: { action: StoreAction; target: string; file: string },
): Promise<Result> {
  switch (action) {
    case 'backup': {
      const { bytes, threads } = await maintenance.backUp(target);
      return {
        isWell: true,
        fields: { file: target, bytes, threads },
        text: `${target} has all threads: ${threads} (${bytes} bytes).`,
      };
    }
    case 'restore': {
      const { threads, setAside } = await maintenance.restore(target);
      const kept = setAside === null ? '' : ` The old database is kept as ${setAside}.`;
      return {
        isWell: true,
        fields: { threads, setAside },
        text: `${file} is restored. Threads: ${threads}.${kept}`,
      };
    }
    case 'check': {
      const findings = await maintenance.check();
      const text =
        findings.length === 0
          ? `${file} is in order.`
          : [`${file} is damaged: run 'heddle store repair'`, ...findings].join('\n  ');
      return { isWell: findings.length === 0, fields: { findings }, text };
    }
    case 'repair': {
      const repair = await maintenance.repair();
      if (repair === null)
        return {
          isWell: true,
          fields: { repaired: false },
          text: `${file} is in order: nothing was changed.`,
        };
      return {
        isWell: true,
        fields: { repaired: true, ...repair },
        text: `${file} is repaired: ${describeRepair(repair)}`,
      };
    }
    case 'vacuum': {
      const { bytesBefore, bytesAfter } = await maintenance.vacuum();
      return {
        isWell: true,
        fields: { bytesBefore, bytesAfter },
        text: `${file} has ${bytesAfter} bytes now, ${bytesBefore} before.`,
      };
    }
    default:
      return action satisfies never;
  }
}
