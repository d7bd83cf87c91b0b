import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { realPathOrSame } from '../../../src/base/paths/real-path.ts';
import { RequestError } from '../../../src/client/request-error.ts';
import { HOME_READABLE } from '../../../src/policy/permissions/home-readable.ts';
import type { Turn } from '../../../src/protocol/generated/types.ts';
import { type Canaries, differences, recordCanaries } from '../../support/canaries.ts';
import type { HelperShell } from './helper-shell.ts';
import type { HostileCall } from './hostile-calls.ts';
import type { HostileServer } from './hostile-server.ts';
import type { HostileWorkspace } from './hostile-workspace.ts';
import type { HostileWorld } from './hostile-world.ts';
import { problemsWithRefusals } from './refusals.ts';
import { LateError, within } from './within.ts';

export const WORKED_MS_MAX = 25;
/** More, because a busy disk also puts the main loop to sleep. A pipe does so for much longer. */
const SLEPT_MS_MAX = 500;
export const GROWTH_MB_MAX = 50;
/** Far longer than any turn takes. */
const TURN_MS_MAX = 15_000;
/** Guards may be removed a moment after the end of their command. */
const RELEASED_MS_MAX = 2_000;
const ANSWER_MS_MAX = 10_000;
const GIT_MS_MAX = 2_000;

/** A problem that was found in a workspace. */
export interface Finding {
  kind:
    | 'slow'
    | 'grew'
    | 'stuck'
    | 'turn'
    | 'refusal'
    | 'outside'
    | 'protected'
    | 'left'
    | 'log'
    | 'harmless';
  text: string;
}

export interface WorkspaceRun {
  findings: Finding[];
  /** The longest time for which the server's main loop worked without a pause. */
  workedMs: number;
}

/** Runs the model's calls in a workspace, and then a harmless command. Removes the workspace. */
export async function runWorkspace(
  server: HostileServer,
  { world, turns }: HostileWorkspace,
  shell: HelperShell,
): Promise<WorkspaceRun> {
  const run = new Run(server, world);
  try {
    await run.prepare();
    await run.turns(turns);
    await run.finish();
  } catch (error) {
    if (!(error instanceof LateError) && !server.heddle.hasEnded) throw error;
    run.stuck = true;
    run.add('stuck', `${String(error)}: ${await run.answers()}`);
    await server.kill();
  }
  await run.checkWorld(shell);
  return run;
}

class Run implements WorkspaceRun {
  readonly findings: Finding[] = [];
  /** The server does not answer any more. */
  stuck = false;
  workedMs = 0;
  readonly #server: HostileServer;
  readonly #world: HostileWorld;
  readonly #outside: Canaries;
  readonly #home: Canaries;
  readonly #kept: Canaries;
  readonly #homeIsRoot: boolean;
  readonly #wasBare: boolean;
  #children: string[] = [];
  #errors = 0;
  #memoryMb = 0;
  #threadId = '';

  constructor(server: HostileServer, world: HostileWorld) {
    this.#server = server;
    this.#world = world;
    this.#homeIsRoot = world.roots.some((root) => realPathOrSame(root) === server.home);
    this.#wasBare = isBareRepository(world.work);
    this.#outside = this.#recordOutside();
    this.#home = this.#recordHome();
    this.#kept = recordCanaries([...world.kept], { times: false });
  }

  add(kind: Finding['kind'], text: string): void {
    this.findings.push({ kind, text });
  }

  async prepare(): Promise<void> {
    const { heddle } = this.#server;
    heddle.messages.length = 0;
    heddle.lines.length = 0;
    this.#children = heddle.children();
    this.#errors = heddle.errors().length;
    this.#memoryMb = this.#server.restartGrowth();
    await within(ANSWER_MS_MAX, 'the probe', this.#server.load());
  }

  async turns(turns: readonly HostileCall[][]): Promise<void> {
    const { heddle } = this.#server;
    const { cwd } = this.#world;
    const start = heddle.request('thread/start', { cwd, approvalPolicy: 'never' });
    const started = await within(ANSWER_MS_MAX, 'thread/start', orError(start));
    if (started instanceof RequestError) {
      this.#refusedRequest(started);
      return;
    }
    this.#threadId = started.thread.id;
    for (const calls of turns)
      await this.#turn(
        calls.map((call) => `call ${call.tool} ${JSON.stringify(call.arguments)}`).join('\n'),
      );
    const last = await this.#turn(
      `call exec_command ${JSON.stringify({ cmd: 'echo harmless', login: false })}`,
    );
    if (last !== null) this.#checkHarmless(last);
  }

  async finish(): Promise<void> {
    const { heddle } = this.#server;
    if (this.#threadId !== '') {
      const threadId = this.#threadId;
      await within(
        ANSWER_MS_MAX,
        'cleaning',
        heddle.request('thread/backgroundTerminals/clean', { threadId }),
      );
      const { data } = await within(
        ANSWER_MS_MAX,
        'listing',
        heddle.request('thread/backgroundTerminals/list', { threadId }),
      );
      if (data.length > 0) this.add('left', `background commands: ${JSON.stringify(data)}`);
      await within(ANSWER_MS_MAX, 'thread/delete', heddle.request('thread/delete', { threadId }));
    }
    const load = await within(ANSWER_MS_MAX, 'the probe', this.#server.load());
    this.workedMs = load.workedMs;
    const growthMb = this.#server.growthMb(this.#memoryMb);
    if (this.workedMs > WORKED_MS_MAX)
      this.add('slow', `the main loop worked for ${this.workedMs.toFixed(0)} ms`);
    if (load.sleptMs > SLEPT_MS_MAX)
      this.add('slow', `the main loop slept for ${load.sleptMs.toFixed(0)} ms`);
    if (growthMb > GROWTH_MB_MAX) this.add('grew', `the server grew by ${growthMb.toFixed(0)} MB`);
    const left = await this.#server.onlyChildren(this.#children);
    if (left.length > 0) this.add('left', `processes of the server: ${left.join(' ')}`);
    for (const line of heddle.errors().slice(this.#errors)) this.add('log', line.slice(0, 600));
  }

  /** Checks what is on disk, and removes the workspace. */
  async checkWorld(shell: HelperShell): Promise<void> {
    const { base, kept } = this.#world;
    for (const text of differences(this.#outside, this.#recordOutside())) this.add('outside', text);
    // A killed server cannot remove its guards.
    if (!this.stuck) await this.#checkGuarded(kept);
    const guards = await shell.run(
      `find '${base}' -name 'held-for-sandbox-*-${this.#server.heddle.pid}-*'; rm -rf '${base}'`,
    );
    const said = guards.filter(
      (line) => line !== '' && !(this.stuck && line.includes('/held-for-sandbox-')),
    );
    if (said.length > 0)
      this.add(
        'left',
        `guards, or the workspace could not be removed: ${said.slice(0, 5).join('\n')}`,
      );
  }

  /** Whether the main loop still runs, in words. */
  async answers(): Promise<string> {
    if (this.#server.heddle.hasEnded)
      return `the server ended: ${this.#server.heddle.stderr.slice(-300)}`;
    const load = await within(1_000, 'the probe', this.#server.load()).catch(() => null);
    return load === null
      ? 'the main loop is blocked'
      : `the main loop runs, and worked for ${load.workedMs.toFixed(0)} ms`;
  }

  async #checkGuarded(kept: ReadonlySet<string>): Promise<void> {
    const changes = () => differences(this.#kept, recordCanaries([...kept], { times: false }));
    await vi
      .waitUntil(() => changes().length === 0, { timeout: RELEASED_MS_MAX, interval: 20 })
      .catch(() => {});
    for (const text of changes()) this.add('protected', text);
    for (const text of differences(this.#home, this.#recordHome())) this.add('outside', text);
    if (!this.#wasBare && isBareRepository(this.#world.work))
      this.add('protected', 'commands made the workspace a bare repository');
  }

  /** Returns the id of the turn, or null if it was refused. */
  async #turn(input: string): Promise<string | null> {
    const { heddle } = this.#server;
    const { roots, temp } = this.#world;
    const sandboxPolicy = {
      type: 'workspaceWrite' as const,
      writableRoots: [temp, ...roots],
      excludeSlashTmp: true,
      excludeTmpdirEnvVar: true,
    };
    const turning = heddle.turn(this.#threadId, input, { sandboxPolicy });
    const turn = await within(TURN_MS_MAX, 'a turn', orError<Turn>(turning));
    if (turn instanceof RequestError) {
      this.#refusedRequest(turn);
      return null;
    }
    if (turn.status !== 'completed')
      this.add('turn', `a turn ended as ${turn.status}: ${JSON.stringify(turn.error)}`);
    const ends = heddle.notifications('turn/completed', (sent) => sent.turn.id === turn.id).length;
    if (ends !== 1) this.add('turn', `a turn ended ${ends} times`);
    for (const text of problemsWithRefusals(heddle, turn.id, this.#world))
      this.add('refusal', text);
    return turn.id;
  }

  #refusedRequest(error: RequestError): void {
    if (![...this.#world.offenders].some((place) => error.message.includes(place)))
      this.add('refusal', error.message);
  }

  /** It either ran, or was refused: what a refusal has to say is checked with the others. */
  #checkHarmless(turnId: string): void {
    const items = this.#server.heddle
      .notifications('item/completed', (sent) => sent.turnId === turnId)
      .map(({ item }) => item);
    const ran = items.find((item) => item.type === 'commandExecution');
    if (ran?.type !== 'commandExecution') {
      const said = JSON.stringify(items.at(-1));
      if (!said.includes(this.#world.cwd))
        this.add('harmless', `a harmless command was not shown: ${said}`);
    } else if (
      ran.exitCode !== null &&
      ran.aggregatedOutput !== 'harmless\n' &&
      !ran.aggregatedOutput?.startsWith('bwrap: ')
    ) {
      this.add(
        'harmless',
        `a harmless command ended with ${ran.exitCode}: ${ran.aggregatedOutput}`,
      );
    }
  }

  #recordOutside(): Canaries {
    return recordCanaries([this.#world.outside], { times: true });
  }

  /**
   * Without the server's own files. If the home is a writable root itself, commands may add files
   * to it.
   */
  #recordHome(): Canaries {
    const { home } = this.#server;
    const paths = this.#homeIsRoot ? HOME_READABLE.map((name) => join(home, name)) : [home];
    return recordCanaries(paths, { times: false, except: /^\.?heddle/ });
  }
}

/** Whether git takes the folder itself for a repository. */
function isBareRepository(folder: string): boolean {
  if (!['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)))) return false;
  const git = spawnSync('git', ['-C', folder, 'rev-parse', '--absolute-git-dir'], {
    encoding: 'utf8',
    timeout: GIT_MS_MAX,
  });
  return git.stdout.trim() === realpathSync(folder);
}

async function orError<T>(promise: Promise<T>): Promise<T | RequestError> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}
