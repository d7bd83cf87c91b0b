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
    last = false,
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
    resume: resumed(values.resume, last),
    images: image,
    outputSchema: values['output-schema'] ?? null,
    approve: APPROVALS.find((name) => name === approve) ?? 'ask',
    settings: {
      ...(model === undefined ? {} : { model }),
      ...chosenProvider(values),
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
    },
  };
}

/**
 * A thread keeps its provider, which the configuration may not have any more. So the command line
 * chooses by the request, too.
 */
function chosenProvider(values: OptionValues): { modelProvider?: string } {
  const [, value = ''] = overridesOf(values).reduce<string[]>(
    (found, one) => /^\s*model_provider\s*=\s*(.*?)\s*$/.exec(one) ?? found,
    [],
  );
  const modelProvider = value.replace(/^(["'])(.*)\1$/, '$2');
  return modelProvider === '' ? {} : { modelProvider };
}

/**
 * Throws a UsageError with a hint if there is more than one word, or if the word is an option of
 * heddle and a command of Codex.
 */
export function requireOnePrompt(words: readonly string[], { last }: OptionValues): void {
  const isResume = words[0] === 'resume';
  if (isResume && last === true)
    throw new UsageError(
      'exec resume: leave out resume: --last alone continues the last thread of the folder',
    );
  if (words.length <= 1) return;
  const hint = isResume
    ? 'to continue a thread, use --resume ID or --last'
    : 'put the whole prompt in quotes';
  throw new UsageError(`exec: expected one prompt, found ${words.length} words: ${hint}`);
}

function resumed(threadId: string | undefined, last: boolean): ExecOptions['resume'] {
  if (threadId !== undefined && last)
    throw new UsageError('--resume and --last cannot be used together');
  if (threadId !== undefined)
    return /[/\\]|\.jsonl$/.test(threadId) ? { file: threadId } : { threadId };
  return last ? 'last' : null;
}
