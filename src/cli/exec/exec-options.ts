import type { OptionValues } from '../read-options.ts';

/** How to answer requests for approval: `ask` at the terminal, or always with this decision of the protocol. */
const APPROVALS = ['ask', 'accept', 'acceptForSession', 'decline', 'cancel'] as const;

export type Approve = (typeof APPROVALS)[number];

/** One turn from the shell. Paths are as in the command line. */
export interface ExecOptions {
  /** Null: stdin has the prompt. */
  prompt: string | null;
  /** Whether `-` says that stdin has the prompt, even if it is a terminal. */
  readsStdin: boolean;
  /** Whether stdout has the notifications of the server in place of the answer. */
  json: boolean;
  /** The thread to continue: its id, or `last` for the most recent one of the folder. Null: a new thread. */
  resume: { threadId: string } | 'last' | null;
  images: string[];
  outputSchema: string | null;
  approve: Approve;
  /** What the command line says, so that it also holds for a thread that has settings of its own. */
  settings: { model?: string; sandbox?: string; approvalPolicy?: string };
}

/** Options of a server that mean nothing to one turn from the shell, or belong to other commands. */
const REFUSED = ['listen', 'stdio', 'framing', 'drain', 'deterministic', 'out', 'experimental', 'yes'] as const;

/** Reads the words behind `exec`, and its options. Throws an Error that says what is wrong. */
export function execOptions(words: readonly string[], values: OptionValues): ExecOptions {
  const refused = REFUSED.find((name) => values[name] !== undefined);
  if (refused !== undefined) throw new Error(`--${refused} cannot be used with exec`);
  const { json = false, last = false, image = [], approve = 'ask', model, sandbox, 'ask-for-approval': approvalPolicy } = values;
  return {
    prompt: promptOf(words),
    readsStdin: words[0] === '-',
    json,
    resume: resumed(values.resume, last),
    images: image.map((file) => nonEmpty('--image', file)),
    outputSchema: values['output-schema'] === undefined ? null : nonEmpty('--output-schema', values['output-schema']),
    approve: approval(approve),
    settings: {
      ...(model === undefined ? {} : { model }),
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
    },
  };
}

function promptOf(words: readonly string[]): string | null {
  const [prompt, ...more] = words;
  if (more.length > 0) {
    const hint = prompt === 'resume' ? 'to continue a thread, use --resume ID or --last' : 'put the whole prompt in quotes';
    throw new Error(`exec: expected one prompt, found ${words.length} words: ${hint}`);
  }
  return prompt === undefined || prompt === '-' ? null : prompt;
}

function resumed(threadId: string | undefined, last: boolean): ExecOptions['resume'] {
  if (threadId !== undefined && last) throw new Error('--resume and --last cannot be used together');
  if (threadId !== undefined) return { threadId: nonEmpty('--resume', threadId) };
  return last ? 'last' : null;
}

function approval(given: string): Approve {
  const known = APPROVALS.find((name) => name === given);
  if (known === undefined) throw new Error(`--approve ${given}: expected ${APPROVALS.slice(0, -1).join(', ')} or ${APPROVALS.at(-1)}`);
  return known;
}

function nonEmpty(option: string, value: string): string {
  if (value === '') throw new Error(`${option}: expected ${option === '--resume' ? 'the id of a thread' : 'a file name'}`);
  return value;
}
