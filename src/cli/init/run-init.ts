import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { showText } from '../../base/text/show-text.ts';
import type { Config } from '../../config/config.ts';
import { readConfigText } from '../../config/layers/layer.ts';
import { loadConfig } from '../../config/load-config.ts';
import { codexHome } from '../../config/login/codex-home.ts';
import { AUTH_FILE } from '../../config/login/stored-login.ts';
import { modelAdvice } from '../../config/problems/stand-in-warning.ts';
import { chooseModel, chooseProvider } from '../../config/providers/choose-provider.ts';
import { EMBEDDED } from '../../config/providers/embedded-names.ts';
import { readOr } from '../../config/toml/config-error.ts';
import { TrustRecordFile } from '../../config/trust/trust-record-file.ts';
import type { EditToml } from '../../config/writing/toml-edit.ts';
import { ConfigWriter } from '../../handlers/config-writing/config-writer.ts';
import { policyReads } from '../../policy/policy-reads.ts';
import { OptionError } from '../command-line/option-error.ts';
import type { OptionValues } from '../command-line/read-options.ts';
import { UsageError } from '../command-line/usage-error.ts';
import { type Dialog, Dialogs, NobodyThere } from '../exec/asking/dialogs.ts';
import type { KeyboardStream } from '../exec/asking/keyboard.ts';
import { type Output, Screen } from '../exec/screen.ts';
import { type Chosen, chooseSettings } from './choose-settings.ts';
import { type InitOptions, initOptions } from './init-options.ts';
import { newConfigText } from './new-config-text.ts';
import { ProviderModels } from './provider-models.ts';
import { takeCodex } from './take-codex.ts';

/** The process in which `heddle init` runs. */
export interface InitHost {
  /** The absolute path of the home. */
  home: string;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  systemDir: string | null;
  version: string;
  stdin: KeyboardStream;
  stdout: Output;
  stderr: Output;
  editToml: EditToml;
  /** Calls back for each signal that asks the process to end, with its number. */
  onSignal(handler: (signal: number) => void): void;
  exit(code: number): void;
}

const FAILED = 1;
const INTERRUPT = 2;
/** The exit code of a signal is this and its number. */
const SIGNALLED = 128;

/**
 * Writes config.toml with the answers of the command line and of a person. Until it is written,
 * nothing is, and a signal ends the process. Resolves with the exit code. Rejects with an Error for
 * a person.
 */
export async function runInit(values: OptionValues, host: InitHost): Promise<number> {
  const options = initOptions(values);
  const { home, stdin, stdout, stderr, env } = host;
  const file = join(home, 'config.toml');
  if (readConfigText(file) !== null && !options.replace)
    throw new Error(
      `${showText(file)} exists already: change it by hand, or use --replace, which keeps it under another name`,
    );
  const screen = new Screen({ stdout, stderr, env, json: false });
  const writing = new Writing(options, host, file);
  const onSignal = (signal: number) => {
    // The file appears in one step. Until then, the process can end at any time.
    if (writing.hasBegun) return;
    screen.ask('\nNothing was written.\n');
    host.exit(SIGNALLED + signal);
  };
  host.onSignal(onSignal);
  const canAsk = stdin.isTTY === true && screen.questions !== null;
  if (!asksNothing(options) && !canAsk)
    throw new UsageError(
      'init: nobody can answer, because there is no terminal: use --yes, or --provider, --model and --sandbox',
    );
  if (asksNothing(options)) return writing.run(null, screen);
  try {
    const dialogs = new Dialogs(screen, stdin, () => onSignal(INTERRUPT));
    return await dialogs.ask(new AbortController().signal, (dialog) => writing.run(dialog, screen));
  } catch (error) {
    if (!(error instanceof NobodyThere)) throw error;
    screen.note('Nothing was written.');
    return FAILED;
  }
}

function asksNothing({ yes, fromCodex, provider, model, sandbox }: InitOptions): boolean {
  return (
    yes ||
    fromCodex ||
    (provider !== null && sandbox !== null && (model !== null || provider.id === EMBEDDED))
  );
}

/** Makes the text of config.toml and writes it. */
class Writing {
  hasBegun = false;
  readonly #options: InitOptions;
  readonly #host: InitHost;
  readonly #file: string;

  constructor(options: InitOptions, host: InitHost, file: string) {
    this.#options = options;
    this.#host = host;
    this.#file = file;
  }

  /** `dialog`: null if nobody is asked. */
  async run(dialog: Dialog | null, screen: Screen): Promise<number> {
    const { text, notes } = await this.#text(dialog, screen);
    this.hasBegun = true;
    const { home, editToml, stdout } = this.#host;
    const writer = new ConfigWriter({
      home,
      editToml,
      configWith: (user) => this.#configWith(user),
      further: policyReads,
    });
    const keptAs = this.#options.replace
      ? `${this.#file}.replaced-${new Date(systemClock.now()).toISOString().replaceAll(/[:.]/g, '-')}`
      : null;
    const { config, warnings, setAside } = await writer.create(text, { keptAs });
    const told = warnings.map(
      ({ summary, details }) =>
        `${summary}${details === null || details === undefined ? '' : `. ${details}`}`,
    );
    const lines = [
      `Wrote ${this.#file}${summaryOf(config)}.`,
      ...(setAside === null ? [] : [`The old one is kept as ${setAside}.`]),
      ...[...notes, ...told, ...missingKey(config)].map((note) => `Note: ${note}`),
      '',
      'Try:',
      '  heddle exec "Say hello"    one question from the shell',
      '  heddle doctor              checks the configuration and the provider',
    ];
    screen.endAnswer();
    stdout.write(lines.map((line) => `${showText(line)}\n`).join(''));
    return 0;
  }

  async #text(dialog: Dialog | null, screen: Screen): Promise<{ text: string; notes: string[] }> {
    const { env, version } = this.#host;
    const codexFile = this.#codexFile();
    if (this.#options.fromCodex) return this.#taken(codexFile);
    const configWith = (text: string) => this.#configWith(text);
    const models = new ProviderModels({ env, userAgent: `heddle/${version}`, configWith });
    const offered = codexFile !== null && existsSync(codexFile) ? codexFile : null;
    const chosen: Chosen | 'codex' = await chooseSettings({
      options: this.#options,
      models,
      screen,
      codexFile: offered,
      dialog,
    });
    return chosen === 'codex'
      ? this.#taken(codexFile)
      : { text: newConfigText(chosen.settings), notes: chosen.notes };
  }

  /** Null: Codex has the home of heddle. */
  #codexFile(): string | null {
    const { env, home } = this.#host;
    const folder = resolve(env.CODEX_HOME || codexHome(env.HOME || homedir()));
    return realPathOrSame(folder) === realPathOrSame(home) ? null : join(folder, 'config.toml');
  }

  async #taken(file: string | null): Promise<{ text: string; notes: string[] }> {
    const { home } = this.#host;
    if (file === null)
      throw new OptionError(
        `--from-codex: ${home} is the home of Codex, which heddle uses as it is: there is nothing to take`,
      );
    const { text, unused, secret } = await takeCodex(file, {
      configWith: (user) => this.#configWith(user),
    });
    const folder = dirname(file);
    const others = OTHER_FILES.filter((name) => existsSync(join(folder, name)));
    const left =
      others.length === 0
        ? []
        : [
            `not taken from ${folder}: ${others.join(', ')}. To use that home as it is, set HEDDLE_HOME=${folder}.`,
          ];
    return {
      text,
      notes: [
        `the settings are those of ${file}, without its comments.`,
        ...leftOut(unused, 'heddle does not use them'),
        ...[...secret].flatMap(([place, names]) =>
          leftOut(names, 'they may have secrets').map((note) => `${note} ${place}.`),
        ),
        ...left,
      ],
    };
  }

  #configWith(userText: string): Promise<Config> {
    const { home, cwd, env, systemDir } = this.#host;
    return loadConfig({
      home,
      cwd,
      env,
      systemDir,
      overrides: [],
      trustedFiles: new TrustRecordFile({ home, writes: false }),
      userText,
    });
  }
}

/** The files of Codex's home that heddle would use in a home of its own. */
const OTHER_FILES: readonly string[] = [
  AUTH_FILE,
  'AGENTS.md',
  'AGENTS.override.md',
  'rules',
  'skills',
  'hooks.json',
  'agents',
];

/** So many names are printed. */
const NAMES_MAX = 20;

function leftOut(names: readonly string[], why: string): string[] {
  if (names.length === 0) return [];
  const others =
    names.length > NAMES_MAX ? `, and ${names.length - NAMES_MAX} more, which the file lists` : '';
  return [`left out, because ${why}: ${names.slice(0, NAMES_MAX).join(', ')}${others}.`];
}

function summaryOf(config: Config): string {
  return readOr(
    () => {
      const { provider } = chooseProvider(config, null);
      return `: provider ${provider.id}, model ${chooseModel(config, provider, null)}, sandbox ${config.get('sandbox_mode')}`;
    },
    // A warning says why.
    () => '',
  );
}

/**
 * Says that the variable with the provider's key is not set, or that there is no provider for want
 * of a key.
 */
function missingKey(config: Config): string[] {
  return readOr(
    () => {
      const { provider, embeddedDefault } = chooseProvider(config, null);
      if (embeddedDefault)
        return [
          `no API key was found, so the embedded model answers, offline. ${modelAdvice(config)}`,
        ];
      const { envKey, usesLogin } = provider;
      const isThere =
        envKey === null ||
        (usesLogin && config.login.apiKey !== null) ||
        Boolean(config.env[envKey]?.trim());
      return isThere ? [] : [`${envKey} is not set. Put the key into it where heddle starts.`];
    },
    () => [],
  );
}
