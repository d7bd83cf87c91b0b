import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { createBubblewrap } from '../../src/sandbox/linux/create-bubblewrap.ts';
import { createProcesses } from '../../src/sandbox/processes/create-processes.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { RecordingLog } from '../support/recording-log.ts';

export interface Ran {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A home, a workspace, a folder outside both, and bash in the sandbox of this machine. */
export class ConfinedWorld {
  readonly base = mkdtempSync(join(realpathSync(tmpdir()), 'heddle-sandbox-'));
  readonly home = this.folder('home');
  readonly workspace = this.folder('work');
  readonly outside = this.folder('outside');
  readonly sandbox: Sandbox = createBubblewrap({ arch: arch(), home: this.home, clock: systemClock });
  readonly #processes = createProcesses({
    sandbox: this.sandbox,
    platform: process.platform,
    env: {},
    sendSignal: (pid, signal) => process.kill(pid, signal),
    log: new RecordingLog(),
  });

  folder(...names: string[]): string {
    const path = join(this.base, ...names);
    mkdirSync(path, { recursive: true });
    return path;
  }

  file(path: string, text = ''): string {
    const absolute = join(this.base, path);
    mkdirSync(join(absolute, '..'), { recursive: true });
    writeFileSync(absolute, text);
    return absolute;
  }

  bounds(bounds: Partial<SandboxBounds> = {}): SandboxBounds {
    return {
      readable: 'everything',
      writableRoots: [this.workspace],
      network: false,
      unixSockets: false,
      workspace: [this.workspace],
      home: this.home,
      ...bounds,
    };
  }

  /** Runs a bash script in the workspace. */
  bash(script: string, bounds: Partial<SandboxBounds> = {}, cwd = this.workspace): Promise<Ran> {
    return this.run(['bash', '-c', script], bounds, cwd);
  }

  async run(argv: readonly string[], bounds: Partial<SandboxBounds> = {}, cwd = this.workspace): Promise<Ran> {
    const output = { stdout: '', stderr: '' };
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent', LANG: 'C.UTF-8' };
    const spec = { argv, cwd, env, bounds: this.bounds(bounds), owner: ['test'], input: false, terminal: null };
    const running = await this.#processes.start(spec, (stream, bytes) => {
      output[stream] += bytes.toString();
    });
    const { exitCode } = await running.ended;
    return { exitCode, ...output };
  }

  async close(): Promise<void> {
    await this.#processes.close();
    rmSync(this.base, { recursive: true, force: true });
  }
}
