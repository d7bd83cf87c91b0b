import { execFileSync } from 'node:child_process';

/** Brings dist/ up to date with the sources, also for who calls vitest directly. */
export function setup(): void {
  execFileSync(process.execPath, ['bin/setup.js'], {
    cwd: new URL('../..', import.meta.url),
    stdio: 'inherit',
  });
}
