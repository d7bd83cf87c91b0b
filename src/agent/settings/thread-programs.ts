import { isAbsolute } from 'node:path';
import { type Env, setVariables } from '../../base/env.ts';
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { hookName, runs } from '../../config/hooks/hook-definition.ts';
import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import { readOr } from '../../config/toml/config-error.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { programKey, type ServerProgram } from '../../sandbox/server-programs/server-program.ts';
import { shellArgv, userShell } from '../../tools/command/call/user-shell.ts';

interface Configured {
  config: Config;
  mcp: McpSettings;
}

interface Places {
  /** The working directory of the thread. */
  cwd: string;
  /** The working directory of the server. */
  serverCwd: string;
  env: Env;
}

/** A thread, as far as its programs depend on it. */
interface ThreadFacts {
  configuration: { config: Config; mcp: { settings: McpSettings } };
  settings: { cwd: string };
  turn: { settings: { cwd: string } } | null;
}

/**
 * The programs of a configuration in a working directory. `key` is the same for programs that run
 * the same.
 */
interface ProgramSet {
  key: string;
  programs: readonly ServerProgram[];
}

interface Kept {
  mcp: McpSettings;
  byFolder: Map<string, ProgramSet>;
}

interface ThreadProgramsDeps {
  sandbox: Pick<Sandbox, 'programsChanged'>;
  log: Log;
  env: Env;
  /** The working directory of the server. */
  cwd: string;
}

/** A thread that works in more folders finds its programs anew. */
const FOLDERS_MAX = 20;

/**
 * The programs that the server may start outside the sandbox for the loaded threads. They are found
 * once for each configuration and folder.
 */
export class ThreadPrograms {
  readonly #deps: ThreadProgramsDeps;
  readonly #threads = new Set<ThreadFacts>();
  readonly #kept = new WeakMap<Config, Kept>();

  constructor(deps: ThreadProgramsDeps) {
    this.#deps = deps;
  }

  /** A thread is loaded. */
  add(thread: ThreadFacts): void {
    this.#threads.add(thread);
    this.changed();
  }

  /** A thread is closed. */
  remove(thread: ThreadFacts): void {
    this.#threads.delete(thread);
  }

  /** The programs of all threads. */
  all(): ServerProgram[] {
    const sets = new Map<string, ProgramSet>();
    for (const { configuration, settings, turn } of this.#threads) {
      const configured = { config: configuration.config, mcp: configuration.mcp.settings };
      for (const cwd of new Set([settings.cwd, turn?.settings.cwd ?? settings.cwd])) {
        const set = this.#of(configured, cwd);
        sets.set(set.key, set);
      }
    }
    return [...sets.values()].flatMap(({ programs }) => programs);
  }

  /** A thread has been loaded, or its configuration has changed. */
  changed(): void {
    const { sandbox, log } = this.#deps;
    sandbox
      .programsChanged()
      .catch((error: unknown) =>
        log.error({ err: error }, 'the files of new programs cannot be examined'),
      );
  }

  #of({ config, mcp }: Configured, cwd: string): ProgramSet {
    let kept = this.#kept.get(config);
    if (kept === undefined || kept.mcp !== mcp || kept.byFolder.size >= FOLDERS_MAX) {
      kept = { mcp, byFolder: new Map() };
      this.#kept.set(config, kept);
    }
    let set = kept.byFolder.get(cwd);
    if (set === undefined) {
      const { env, cwd: serverCwd } = this.#deps;
      const programs = configuredPrograms({ config, mcp }, { env, serverCwd, cwd });
      set = { key: programs.map(programKey).join('\n'), programs };
      kept.byFolder.set(cwd, set);
    }
    return set;
  }
}

/**
 * Commands of hooks, MCP servers, the safety check and `notify`. The only list of them: whoever
 * starts one passes `startedFor`.
 */
function configuredPrograms(
  { config, mcp }: Configured,
  { cwd, serverCwd, env }: Places,
): ServerProgram[] {
  const kind = 'configured';
  const own = setVariables(env);
  const hooks = config.hooks.hooks.flatMap((hook): ServerProgram[] => {
    if (hook.handler.type !== 'command' || !runs(hook)) return [];
    const argv = shellArgv(userShell(env), hook.handler.command, { login: false });
    return [{ of: hookName(hook), argv, cwd: hook.projectFolder ?? cwd, env: own, kind }];
  });
  const servers = mcp.servers.flatMap(({ name, enabled, transport }): ServerProgram[] => {
    if (!enabled || transport.type !== 'stdio') return [];
    const { command, args, env: ofServer, cwd: folder } = transport;
    return [
      {
        of: `the MCP server ${name}`,
        argv: [command, ...args],
        cwd: folder ?? cwd,
        env: ofServer,
        kind,
      },
    ];
  });
  const { check } = mcp;
  const checks: ServerProgram[] =
    check?.type === 'command'
      ? [
          {
            of: 'the safety check of MCP calls',
            argv: [check.command, ...check.args],
            cwd: check.cwd,
            env: { ...own, ...check.env },
            kind,
          },
        ]
      : [];
  const notify = readOr(
    () => config.get('notify'),
    () => null,
  );
  const notified: ServerProgram[] =
    notify === null ? [] : [{ of: '`notify`', argv: notify, cwd: serverCwd, env: own, kind }];
  return [...hooks, ...servers, ...checks, ...notified].filter((program) =>
    isAbsolute(program.cwd),
  );
}
