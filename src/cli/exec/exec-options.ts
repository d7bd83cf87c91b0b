import { actionHint } from '../command-line/command-hint.ts';
import { type OptionValues, overridesOf } from '../command-line/read-options.ts';
import { UsageError } from '../command-line/usage-error.ts';

/**
 * How to answer requests for approval: `ask` at the terminal, or always with this decision of the
 * protocol.
 */
export const APPROVALS = ['ask', 'accept', 'acceptForSession', 'decline', 'cancel'] as const;

export type Approve = (typeof APPROVALS)[number];

/** One turn from the shell. Paths are as in the command line. */
export interface ExecOptions {
  /** Null: stdin has the prompt. */
  prompt: string | null;
  /** Whether `-` says that stdin has the prompt, even if it is a terminal. */
  readsStdin: boolean;
  /** Whether stdout has the notifications of the server in place of the answer. */
  json: boolean;
  /**
   * The thread to continue: its id, its rollout file, or `last` for the most recent one of the
   * folder. Null: a new thread.
   */
  resume: { threadId: string } | { file: string } | 'last' | null;
  /** Whether the new thread is not stored. */
  ephemeral: boolean;
  images: string[];
  outputSchema: string | null;
  approve: Approve;
  /** Settings of the command line. They count more than those that a thread has kept. */
  settings: { model?: string; modelProvider?: string; sandbox?: string; approvalPolicy?: string };
}

/**
 * Returns what the words behind `exec`, of which there is one at most, and its options ask for.
 * Throws a UsageError if they contradict.
 */
export function execOptions(words: readonly string[], values: OptionValues): ExecOptions {
  const {
    json = false,
    ephemeral = false,
    image = [],
    approve = 'ask',
    model,
    sandbox,
    'ask-for-approval': approvalPolicy,
  } = values;
  return {
    prompt: words[0] === undefined || words[0] === '-' ? null : words[0],
    readsStdin: words[0] === '-',
    json,
    resume: resumed(values),
    ephemeral,
    images: image,
    outputSchema: values['output-schema'] ?? null,
    approve: APPROVALS.find((name) => name === approve) ?? 'ask',
    settings: {
      ...chosenModel(values),
      ...(model === undefined ? {} : { model }),
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
    },
  };
}

/** A setting of `-c` with a plain string. */
const PLAIN_SETTING =
  /^\s*["']?(model|model_provider)["']?\s*=\s*(?:"([^"\\]*)"|'([^']*)'|([^\s"'#[\]{}]+))\s*(?:#.*)?$/;

/**
 * A thread keeps its provider and its model, which the configuration may not have any more. So the
 * command line chooses them by the request, too.
 */
function chosenModel(values: OptionValues): { model?: string; modelProvider?: string } {
  const chosen: { model?: string; modelProvider?: string } = {};
  for (const setting of overridesOf(values)) {
    const [, key, ...forms] = PLAIN_SETTING.exec(setting) ?? [];
    const value = forms.find((form) => form !== undefined && form !== '');
    if (value === undefined) continue;
    if (key === 'model') chosen.model = value;
    else chosen.modelProvider = value;
  }
  return chosen;
}

/**
 * The words behind `exec` and the options, in heddle's form: `resume ID [PROMPT]` and `resume
 * --last [PROMPT]`, as in Codex, continue a thread. `form`: the first word, which stands before
 * `--`. Throws a UsageError if Codex has such a form and heddle has not.
 */
export function ownForm(
  form: string,
  words: readonly string[],
  values: OptionValues,
): { words: string[]; values: OptionValues } {
  const hint = actionHint('exec', form);
  if (hint !== null) throw new UsageError(`exec ${form}: ${hint}`);
  if (form !== 'resume') return { words: [...words], values };
  const [, ...others] = words;
  if (values.resume !== undefined)
    throw new UsageError('--resume cannot be used with exec resume: give the ID once');
  if (values.last === true) return { words: others, values };
  const [resume, ...prompt] = others;
  if (resume === undefined) throw new UsageError('exec resume requires ID, or --last');
  if (/\s/.test(resume) && !resume.endsWith('.jsonl'))
    throw new UsageError('exec resume: expected the ID of a thread before the prompt, or --last');
  return { words: prompt, values: { ...values, resume } };
}

/** Throws a UsageError with a hint if there is more than one word. */
export function requireOnePrompt(words: readonly string[]): void {
  if (words.length <= 1) return;
  throw new UsageError(
    `exec: expected one prompt, found ${words.length} words: put the whole prompt in quotes`,
  );
}

function resumed({
  resume: threadId,
  last = false,
  ephemeral = false,
}: OptionValues): ExecOptions['resume'] {
  if (threadId !== undefined && last)
    throw new UsageError('--resume and --last cannot be used together');
  if (ephemeral && (threadId !== undefined || last))
    throw new UsageError(
      '--ephemeral belongs to a new thread: it cannot be used with --resume or --last',
    );
  if (threadId !== undefined) return isFile(threadId) ? { file: threadId } : { threadId };
  return last ? 'last' : null;
}

/** Whether it is the file of a rollout, not the id of a thread. */
function isFile(resume: string): boolean {
  return /[/\\]|\.jsonl$/.test(resume);
}
