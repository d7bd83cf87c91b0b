import type { Framing } from '../../transport/framing.ts';
import type { ExecOptions } from '../exec/exec-options.ts';
import type { LogLevel } from '../log/lazy-log.ts';
import type { Request } from '../requests/run-request.ts';
import type { WireOptions } from '../wire/wire-options.ts';
import type { CommandName, StoreAction } from './commands.ts';
import type { ListenOptions } from './listen-options.ts';
import type { OptionValues } from './read-options.ts';
import type { Shell } from './show-completion.ts';

/** How to run the server. Paths are as in the command line. */
export interface ServeOptions {
  /** Settings that override config.toml, as `key=value` strings. */
  overrides: string[];
  /** The profile of `--profile`, which is one of the overrides too. */
  profile: string | null;
  /** The file of a script that replaces all models. */
  modelScript: string | null;
  framing: Framing;
  /** The addresses for clients. Commands other than app-server have only stdio. */
  listen: ListenOptions;
  /** Whether a key of the configuration that heddle does not know ends the start. */
  strictConfig: boolean;
  /** The working directory of threads that name none. Null: that of the process. */
  cwd: string | null;
  /**
   * The given options that have no effect, with their hyphens. `allowing`: those that would allow
   * more.
   */
  unused: { harmless: string[]; allowing: string[] };
  drain: boolean;
  deterministic: boolean;
  /** Null: the environment decides. */
  logLevel: LogLevel | null;
  logFile: string | null;
  wireLog: string | null;
}

/** The command that a command line asks for. */
export type Command =
  | { run: 'help'; command: CommandName | null }
  | { run: 'version' }
  | { run: 'init'; values: OptionValues }
  | { run: 'trust'; folder: string; yes: boolean }
  | { run: 'store'; action: StoreAction; file: string | null; json: boolean }
  | { run: 'proxy'; socket: string | null }
  | { run: 'doctor'; settings: GivenSettings; json: boolean }
  | { run: 'request'; request: Request; settings: GivenSettings }
  | { run: 'completion'; shell: Shell }
  | { run: 'generate'; generator: Generator; out: string; experimental: boolean }
  | { run: 'exec'; asked: ExecOptions; options: ServeOptions }
  | { run: 'wire'; asked: WireOptions; options: ServeOptions }
  | { run: 'serve'; options: ServeOptions };

/** The settings of a command line. */
export type GivenSettings = Pick<ServeOptions, 'overrides' | 'profile'>;

export type Generator = 'generate-json-schema' | 'generate-ts';

/** The settings that a command line overrides, as `key=value` strings. */
export function overridesIn(command: Command): readonly string[] {
  if ('settings' in command) return command.settings.overrides;
  return 'options' in command ? command.options.overrides : [];
}
