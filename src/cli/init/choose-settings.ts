import { showText } from '../../base/text/show-text.ts';
import { EMBEDDED } from '../../config/providers/embedded-names.ts';
import { SANDBOX_MODES } from '../../config/strictness/sandbox-modes.ts';
import type { SandboxMode } from '../../protocol/generated/types.ts';
import type { Dialog } from '../exec/asking/dialogs.ts';
import type { Screen } from '../exec/screen.ts';
import {
  type InitOptions,
  readModel,
  readProviderAnswer,
  readVariable,
  type TypedAnswer,
} from './init-options.ts';
import type { NewSettings } from './new-config-text.ts';
import { LOCAL_PROVIDERS, OFFERED_PROVIDERS, type OfferedProvider } from './offered-providers.ts';
import type { FoundModels, ProviderModels } from './provider-models.ts';

/** How long programs on this machine may take to list their models before the first question. */
const LOCAL_MS_MAX = 2_000;
/** How long the chosen provider may take. */
const CHOSEN_MS_MAX = 5_000;
/** How many models of a provider are shown. */
const SHOWN_MAX = 9;

const CODEX = 'codex';

interface Choosing {
  options: InitOptions;
  models: ProviderModels;
  screen: Screen;
  /** The config.toml of Codex. Null: there is none to take. */
  codexFile: string | null;
  /** Null: nobody is asked, and each question that no option answers gets its default. */
  dialog: Dialog | null;
}

/** Notes for the user beside the settings. */
export interface Chosen {
  settings: NewSettings;
  notes: string[];
}

/**
 * Asks the questions that no option answers. Rejects with an Error for a person if a default is
 * missing; `codex`: to take its settings.
 */
export async function chooseSettings(choosing: Choosing): Promise<Chosen | typeof CODEX> {
  const provider = choosing.options.provider ?? (await chooseProvider(choosing));
  if (provider === CODEX) return CODEX;
  const found = await choosing.models.of(provider, CHOSEN_MS_MAX);
  // The variable of a missing key is named at the end.
  const problem = (await choosing.models.hasKey(provider)) ? found.problem : null;
  const model = await chooseModel(provider, found, choosing);
  const sandbox = choosing.options.sandbox ?? (await chooseSandbox(choosing));
  const unlisted = model === null || choosing.dialog !== null ? null : found.unlisted(model);
  return {
    settings: { provider, model, sandbox },
    notes: [problem, unlisted].filter((note) => note !== null),
  };
}

async function chooseProvider({
  models,
  screen,
  codexFile,
  dialog,
}: Choosing): Promise<OfferedProvider | typeof CODEX> {
  const local = new Map<string, FoundModels>();
  const isLocal = (offered: OfferedProvider) => LOCAL_PROVIDERS.includes(offered.id);
  await Promise.all(
    OFFERED_PROVIDERS.filter(isLocal).map(async (one) =>
      local.set(one.id, await models.of(one, LOCAL_MS_MAX)),
    ),
  );
  const keyed = await Promise.all(
    OFFERED_PROVIDERS.map(async (one) => one.keyVariable !== null && (await models.hasKey(one))),
  );
  const usable =
    OFFERED_PROVIDERS.find((_one, index) => keyed[index]) ??
    OFFERED_PROVIDERS.find(({ id }) => (local.get(id)?.ids.length ?? 0) > 0);
  const byDefault = usable ?? OFFERED_PROVIDERS[0];
  if (byDefault === undefined) throw new Error('no provider is offered');
  if (dialog === null) return byDefault;
  const rows = OFFERED_PROVIDERS.map(
    (one, index) =>
      `${one.id.padEnd(11)} ${one.label}${stateOf(one, { hasKey: keyed[index], local })}`,
  );
  const taking =
    codexFile === null ? [] : [`${CODEX.padEnd(11)} take the settings of ${showText(codexFile)}`];
  dialog.show(
    'Which provider has the model? A number, a name, or the URL of another API.',
    ...numbered([...rows, ...taking], screen),
  );
  const ids = [...OFFERED_PROVIDERS.map(({ id }) => id), ...(taking.length > 0 ? [CODEX] : [])];
  const chosen = await askUntil(
    dialog,
    `provider [${byDefault.id}]: `,
    (typed): TypedAnswer<OfferedProvider | typeof CODEX> => {
      const name = typed === '' ? byDefault.id : (ids[Number(typed) - 1] ?? typed);
      return name === CODEX && ids.includes(CODEX)
        ? { value: CODEX }
        : readProviderAnswer(name, () => null);
    },
  );
  if (chosen === CODEX || OFFERED_PROVIDERS.includes(chosen)) return chosen;
  return { ...chosen, keyVariable: await askVariable(dialog) };
}

/** The facts about a provider, for after its name. */
function stateOf(
  { id, keyVariable }: OfferedProvider,
  known: { hasKey: boolean | undefined; local: ReadonlyMap<string, FoundModels> },
): string {
  if (keyVariable !== null)
    return known.hasKey ? ': the key is there' : `: ${keyVariable} is not set`;
  const found = known.local.get(id);
  if (found === undefined) return '';
  if (found.problem !== null) return ': does not answer';
  return `: answers, with ${found.ids.length} ${found.ids.length === 1 ? 'model' : 'models'}`;
}

function askVariable(dialog: Dialog): Promise<string | null> {
  return askUntil(
    dialog,
    'variable of the environment with its key (Enter: it needs none): ',
    (typed): TypedAnswer<string | null> => (typed === '' ? { value: null } : readVariable(typed)),
  );
}

/** Null: the provider has one model only. */
async function chooseModel(
  provider: OfferedProvider,
  found: FoundModels,
  { options, screen, dialog }: Choosing,
): Promise<string | null> {
  if (provider.id === EMBEDDED) return null;
  if (options.model !== null) return options.model;
  const { ids, byDefault, problem } = found;
  if (dialog === null) {
    const first = readModel(byDefault ?? '');
    if ('value' in first) return first.value;
    throw new Error(
      `init: no model of ${provider.id} is known: name one with --model.${problem === null ? '' : ` ${problem}`}`,
    );
  }
  const shown = [...new Set([...(byDefault === null ? [] : [byDefault]), ...ids])].slice(
    0,
    SHOWN_MAX,
  );
  dialog.show(
    ...(problem === null ? [] : ['', screen.line(problem, { isWhole: true })]),
    '',
    shown.length === 0 ? 'Which model?' : 'Which model? A number or a name.',
    ...numbered(shown, screen),
    ...(ids.length > shown.length ? [`     and ${ids.length - shown.length} more`] : []),
  );
  let last = '';
  return askUntil(
    dialog,
    byDefault === null ? 'model: ' : `model [${showText(byDefault)}]: `,
    (typed): TypedAnswer<string> => {
      const answer = readModel(
        typed === '' ? (byDefault ?? '') : (shown[Number(typed) - 1] ?? typed),
      );
      if ('problem' in answer) return answer;
      const unlisted = answer.value === last ? null : found.unlisted(answer.value);
      last = answer.value;
      return unlisted === null
        ? answer
        : { problem: `${unlisted} To take it all the same, type it again.` };
    },
  );
}

const SANDBOXES: Record<SandboxMode, string> = {
  'read-only': 'commands read files, and write none',
  'workspace-write': 'commands write in the folder of the thread, too',
  'danger-full-access': 'there is no sandbox',
};

async function chooseSandbox({ screen, dialog }: Choosing): Promise<SandboxMode> {
  const [byDefault] = SANDBOX_MODES;
  if (dialog === null) return byDefault;
  const rows = SANDBOX_MODES.map((mode) => `${mode.padEnd(19)} ${SANDBOXES[mode]}`);
  dialog.show(
    '',
    'What may commands do without asking? A number or a name.',
    ...numbered(rows, screen),
  );
  return askUntil(dialog, `sandbox [${byDefault}]: `, (typed): TypedAnswer<SandboxMode> => {
    const value =
      typed === ''
        ? byDefault
        : SANDBOX_MODES.find(
            (mode, index) => mode === typed.toLowerCase() || String(index + 1) === typed,
          );
    return value === undefined
      ? { problem: `expected a number from 1 to ${SANDBOX_MODES.length}, or a name` }
      : { value };
  });
}

function numbered(rows: readonly string[], screen: Screen): string[] {
  return rows.map((row, index) =>
    screen.line(row, { indent: `${String(index + 1).padStart(3)}  ` }),
  );
}

/** Asks again until the line is an answer. */
async function askUntil<T>(
  dialog: Dialog,
  prompt: string,
  read: (typed: string) => TypedAnswer<T>,
): Promise<T> {
  for (;;) {
    const answer = read((await dialog.line(prompt)).trim());
    if ('value' in answer) return answer.value;
    dialog.show(answer.problem);
  }
}
