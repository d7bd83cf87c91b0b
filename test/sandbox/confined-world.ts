import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import {
  type BubblewrapDeps,
  createBubblewrap,
} from '../../src/sandbox/linux/create-bubblewrap.ts';
import type { Installation } from '../../src/sandbox/places/server-places.ts';
import { createProcesses } from '../../src/sandbox/processes/create-processes.ts';
import type { Processes, TerminalSize } from '../../src/sandbox/processes/processes.ts';
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
  /** A folder for everyone's temporary files. */
  readonly shared = this.folder('shared');
  sandbox: Sandbox = createBubblewrap(this.sandboxDeps());
  #processes = createTestProcesses(this.sandbox);

  folder(...names: string[]): string {
    const path = join(this.base, ...names);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** The deps of a sandbox in this world. Its server runs from a package in the folder `app`. */
  sandboxDeps(): BubblewrapDeps {
    const installation = {
      manifest: join(this.base, 'app', 'package.json'),
      executable: process.execPath,
    };
    return {
      arch: arch(),
      home: this.home,
      storeDir: this.home,
      clock: systemClock,
      installation,
      userHome: join(this.base, 'user'),
      sharedFolders: [this.shared],
    };
  }

  /** Forgets the results of earlier commands, like a new server. */
  sandboxAgain(): void {
    this.sandbox = createBubblewrap(this.sandboxDeps());
    this.#processes = createTestProcesses(this.sandbox);
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
      unprotected: [],
      workspace: [this.workspace],
      home: this.home,
      ...bounds,
    };
  }

  /** Runs a bash script in the workspace. */
  bash(script: string, bounds: Partial<SandboxBounds> = {}, cwd = this.workspace): Promise<Ran> {
    return this.run(['bash', '-c', script], bounds, cwd);
  }

  /** Runs a program of the workspace in a terminal of its own. Its whole output is `stdout`. */
  inTerminal(argv: readonly string[], bounds: Partial<SandboxBounds> = {}): Promise<Ran> {
    return this.#run(this.#processes, argv, {
      bounds,
      cwd: this.workspace,
      terminal: { rows: 24, cols: 80 },
    });
  }

  /**
   * Another server, which runs from this installation. Its `run` returns the exit code of a script.
   */
  withServer(installation: Installation, bounds: Partial<SandboxBounds> = {}) {
    const processes = createTestProcesses(
      createBubblewrap({ ...this.sandboxDeps(), installation }),
    );
    const run = async (script: string) =>
      (await this.#run(processes, ['bash', '-c', script], { bounds, cwd: this.workspace }))
        .exitCode;
    return { run, close: () => processes.close() };
  }

  /** Without bounds: outside the sandbox. */
  run(
    argv: readonly string[],
    bounds: Partial<SandboxBounds> | null = {},
    cwd = this.workspace,
  ): Promise<Ran> {
    return this.#run(this.#processes, argv, { bounds, cwd });
  }

  async #run(
    processes: Processes,
    argv: readonly string[],
    {
      bounds,
      cwd,
      terminal = null,
    }: { bounds: Partial<SandboxBounds> | null; cwd: string; terminal?: TerminalSize | null },
  ): Promise<Ran> {
    const output = { stdout: '', stderr: '' };
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent', LANG: 'C.UTF-8' };
    const spec = {
      argv,
      cwd,
      env,
      bounds: bounds === null ? null : this.bounds(bounds),
      owner: ['test'],
      input: false,
      terminal,
    };
    const serve = bounds?.managedNetwork === true ? { serve: () => {} } : {};
    const running = await processes.start({ ...spec, ...serve }, (stream, bytes) => {
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

function createTestProcesses(sandbox: Sandbox): Processes {
  const sendSignal = (pid: number, signal: NodeJS.Signals) => process.kill(pid, signal);
  return createProcesses({
    sandbox,
    platform: process.platform,
    env: {},
    sendSignal,
    log: new RecordingLog(),
  });
}
