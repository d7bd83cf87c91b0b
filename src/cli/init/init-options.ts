import { suggestKey } from '../../base/text/suggest-key.ts';
import { EMBEDDED, isEmbeddedName } from '../../config/providers/embedded-names.ts';
import { SANDBOX_MODES } from '../../config/strictness/sandbox-modes.ts';
import { isVariableName } from '../../config/values/variables.ts';
import type { SandboxMode } from '../../protocol/generated/types.ts';
import { holdsSecret } from '../../secrets/redact-likely-secrets.ts';
import type { OptionValues } from '../command-line/read-options.ts';
import { UsageError } from '../command-line/usage-error.ts';
import {
  looksLikeUrl,
  OFFERED_PROVIDERS,
  type OfferedProvider,
  providerAt,
  urlProblem,
} from './offered-providers.ts';

/** The answers that the command line of `heddle init` gives. Null: it gives none. */
export interface InitOptions {
  provider: OfferedProvider | null;
  model: string | null;
  sandbox: SandboxMode | null;
  /** Whether the settings are those of Codex's home. Then there is no other answer. */
  fromCodex: boolean;
  /** Whether each question that no option answers gets its default. */
  yes: boolean;
  /** Whether a config.toml that exists is replaced, and kept under another name. */
  replace: boolean;
}

/** An answer, or why it is none. The reason never quotes what may be a key. */
export type TypedAnswer<T> = { value: T } | { problem: string };

const MODEL_CHARS_MAX = 200;

/** Returns what the options ask for. Throws a UsageError if they contradict or are no answers. */
export function initOptions(values: OptionValues): InitOptions {
  const {
    provider,
    model,
    sandbox,
    'env-key': envKey,
    'from-codex': fromCodex = false,
    yes = false,
    replace = false,
  } = values;
  const others = Object.entries({ provider, model, sandbox, 'env-key': envKey }).flatMap(
    ([name, value]) => (value === undefined ? [] : [name]),
  );
  if (fromCodex && others.length > 0)
    throw usageError(
      `--from-codex takes all settings of Codex, so it cannot be used with --${others[0]}`,
    );
  if (envKey !== undefined && (provider === undefined || !looksLikeUrl(provider)))
    throw usageError(
      '--env-key belongs to a --provider that is a URL: the variables of the others are known',
    );
  if (provider !== undefined && isEmbeddedName(provider.toLowerCase()) && model !== undefined)
    throw usageError('the embedded model has no other name: leave out --model');
  const keyVariable = envKey === undefined ? null : answerOf('--env-key', readVariable(envKey));
  return {
    provider:
      provider === undefined
        ? null
        : answerOf(
            '--provider',
            readProviderAnswer(provider, () => keyVariable),
          ),
    model: model === undefined ? null : answerOf('--model', readModel(model)),
    sandbox: SANDBOX_MODES.find((mode) => mode === sandbox) ?? null,
    fromCodex,
    yes,
    replace,
  };
}

function answerOf<T>(option: string, answer: TypedAnswer<T>): T {
  if ('problem' in answer) throw usageError(`${option}: ${answer.problem}`);
  return answer.value;
}

function usageError(problem: string): UsageError {
  return new UsageError(`init: ${problem}`);
}

/** The provider with this id, or at this URL, with the variable that `keyVariable` returns. */
export function readProviderAnswer(
  text: string,
  keyVariable: () => string | null,
): TypedAnswer<OfferedProvider> {
  if (looksLikeUrl(text)) {
    const problem = urlProblem(text);
    return problem === null ? { value: providerAt(text, keyVariable()) } : { problem };
  }
  const asked = text.toLowerCase();
  const value = OFFERED_PROVIDERS.find(
    ({ id }) => id === (isEmbeddedName(asked) ? EMBEDDED : asked),
  );
  if (value !== undefined) return { value };
  const ids = OFFERED_PROVIDERS.map(({ id }) => id);
  const nearest = suggestKey(text, ids);
  const hint = nearest === null ? '' : `: did you mean ${nearest}?`;
  return { problem: `expected ${ids.join(', ')}, or the URL of another API${hint}` };
}

/** The name of a model. */
export function readModel(text: string): TypedAnswer<string> {
  const name = text.trim();
  if (name === '' || name.length > MODEL_CHARS_MAX || /\p{C}/u.test(name))
    return { problem: 'expected the name of a model' };
  return holdsSecret(name)
    ? { problem: 'expected the name of a model, not a key' }
    : { value: name };
}

/** The name of the environment variable with a key. */
export function readVariable(text: string): TypedAnswer<string> {
  const isName = isVariableName(text) && !holdsSecret(text);
  return isName
    ? { value: text }
    : { problem: 'expected the name of an environment variable, not the key itself' };
}
