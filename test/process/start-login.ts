import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { EXECUTABLE, environment, type Place } from './support.ts';

/** A `heddle mcp login` that waits for the user. */
export interface StartedLogin {
  /** The address that it prints for the browser. */
  address: Promise<string>;
  /** Resolves with the exit code and all that it printed. */
  ended: Promise<{ code: number | null; shown: string }>;
}

/** Starts `heddle mcp login` for a server of the place's config.toml. */
export function startLogin(where: Place, server: string): StartedLogin {
  const child = spawn(process.execPath, [EXECUTABLE, 'mcp', 'login', server], {
    cwd: where.work,
    env: environment(where),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let shown = '';
  const address = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      const [found] = /http:\S+/.exec(shown) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const ended = once(child, 'close').then(([code]: (number | null)[]) => ({
    code: code ?? null,
    shown,
  }));
  return { address, ended };
}
