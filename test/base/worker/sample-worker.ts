// An object whose methods show what passes between a worker and the main thread. Also the script of
// a worker that serves it.
import { isMainThread } from 'node:worker_threads';
import type { KnownErrors } from '../../../src/base/worker/error-data.ts';
import type { MainThread } from '../../../src/base/worker/remote.ts';
import { serveWorker } from '../../../src/base/worker/serve-worker.ts';

/** An error that keeps its class. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly why: string;

  constructor(message: string, why: string, options?: ErrorOptions) {
    super(message, options);
    this.why = why;
  }
}

export const REFUSED: KnownErrors = {
  toData: (error) => (error instanceof Refused ? error.why : null),
  toError: (why, message, options) => new Refused(message, why as string, options),
};

/** What the sample asks the main thread. */
export interface Asked {
  tell(text: string): void;
  double(number: number): Promise<number>;
  waits(name: string, signal: AbortSignal): Promise<string>;
}

export type Sample = ReturnType<typeof sampleOf>;

export function sampleOf(main: MainThread<Asked>, data: string) {
  return {
    echo: async ({ index }: { index: number }) => ({ index, data }),
    refuse(why: string): never {
      throw new Refused('refused', why);
    },
    break(): never {
      const cause = new Error('the disk');
      throw Object.assign(new Error('broken', { cause }), { code: 'ENOSPC' });
    },
    giveFunction: () => () => {},
    async ask(number: number): Promise<number | string> {
      try {
        return await main.call('double', [number]);
      } catch (error) {
        return error instanceof Refused ? `${String(error)} (${error.why})` : 'another class';
      }
    },
    say: (text: string) => main.tell('tell', text),
    waits: (name: string, signal: AbortSignal): Promise<string> =>
      new Promise((resolve) => {
        const giveUp = () => resolve(`${name}: given up`);
        if (signal.aborted) giveUp();
        else signal.addEventListener('abort', giveUp);
      }),
    waitsForMain: (name: string, signal: AbortSignal) => main.call('waits', [name], signal),
    async log(): Promise<void> {
      main.log.info('plain');
      main.log.warn({ err: new Error('noted'), count: 1 }, 'with fields');
    },
    async tellMain(text: string, _signal: AbortSignal): Promise<void> {
      main.tell('tell', text);
    },
    async tellAndExit(text: string): Promise<void> {
      main.tell('tell', text);
      main.log.info(text);
      process.exit(0);
    },
    async logFunction(): Promise<void> {
      main.log.info({ value: () => {} }, 'not data');
    },
    exit: () => process.exit(0),
  };
}

const form = process.argv[2];
if (!isMainThread && (form === 'sample' || form === 'joins'))
  serveWorker<Asked, string>(sampleOf, { knownErrors: REFUSED, joins: form === 'joins' });
