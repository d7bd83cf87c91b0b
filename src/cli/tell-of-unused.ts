import type { Log } from '../base/log.ts';
import type { ServeOptions } from './command-line/command.ts';

/** Logs the given options that have no effect, so that nobody relies on them. */
export function tellOfUnused({ harmless, allowing }: ServeOptions['unused'], log: Log): void {
  if (harmless.length > 0) log.info({ options: harmless }, 'these options have no effect here');
  if (allowing.length > 0)
    log.warn({ options: allowing }, 'these options allow nothing here: the configuration decides');
}
