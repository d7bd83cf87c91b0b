// Asks on the terminal before the agent runs a command, changes files, gets permissions in addition
// to its sandbox or calls a tool of an MCP server that needs approval. It also passes on the
// questions of MCP servers (elicitations) and of the agent.
//
// In a project with `"type": "module"` in its package.json, and `"types": ["node"]` in its
// tsconfig.json:
//   npm install heddle && npm install --save-dev tsx typescript @types/node
//   npx tsx approval-dialog.ts "Tidy up here." [COMMAND OF ANOTHER APP-SERVER …]
import { createInterface } from 'node:readline/promises';
import {
  type CommandExecutionApprovalDecision,
  type McpElicitationPrimitiveSchema,
  type McpServerElicitationRequestResponse,
  showText,
  spawnServer,
  type ThreadItem,
} from 'heddle/client';

const [input = 'Tidy up here.', command, ...args] = process.argv.slice(2);
const client = spawnServer(command === undefined ? {} : { command, args });
const terminal = createInterface({ input: process.stdin, output: process.stdout });
const items = new Map<string, ThreadItem>();

/** Shows a prompt and returns the line that is typed. */
type Type = (prompt: string) => Promise<string>;

/** Settles when the last question has been answered. Null: no question is open. */
let last: Promise<unknown> | null = null;

/**
 * Runs a dialog after all earlier ones: several questions can be open at once. Rejects if no answer
 * is needed any more, because another client has answered, the question has timed out or the turn
 * has ended.
 */
function ask<T>(signal: AbortSignal, dialog: (type: Type) => Promise<T>): Promise<T> {
  const answer = last === null ? show(signal, dialog) : last.then(() => show(signal, dialog));
  const settled = answer
    .catch(() => {})
    .finally(() => {
      if (last === settled) last = null;
    });
  last = settled;
  return answer;
}

async function show<T>(signal: AbortSignal, dialog: (type: Type) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return dialog(async (prompt) => {
    try {
      return await terminal.question(prompt, { signal });
    } finally {
      if (signal.aborted) console.log('(no answer is needed any more)');
    }
  });
}

/** Asks again until one of the keys is typed. */
async function choose<T>(type: Type, prompt: string, choices: Record<string, T>): Promise<T> {
  for (;;) {
    const key = (await type(prompt)).trim();
    const choice = Object.hasOwn(choices, key) ? choices[key] : undefined;
    if (choice !== undefined) return choice;
  }
}

const DECISIONS = { y: 'accept', a: 'acceptForSession', n: 'decline', c: 'cancel' } as const;

function decide(question: string, signal: AbortSignal) {
  return ask(signal, (type) =>
    choose(type, `${question}\n[y]es, [a]lways, [n]o, [c]ancel the turn: `, DECISIONS),
  );
}

// An approval request has the id of an item, which describes the action.
client.on('item/started', ({ item }) => items.set(item.id, item));

client.handle('item/commandExecution/requestApproval', async (params, { signal }) => {
  const offered = params.availableDecisions ?? Object.values(DECISIONS);
  // Without showText, an escape sequence in a command or a reason could hide the command from the
  // person who decides.
  const command = showText(`${params.cwd}$ ${params.command}`);
  const question = `${showText(params.reason ?? 'The agent wants to run a command.')}\n  ${command}`;
  let decision: CommandExecutionApprovalDecision = await decide(question, signal);
  if (!offered.includes(decision))
    decision = decision === 'acceptForSession' ? 'accept' : 'decline';
  return { decision };
});

client.handle('item/fileChange/requestApproval', async ({ itemId, reason }, { signal }) => {
  const item = items.get(itemId);
  const changes = item?.type === 'fileChange' ? item.changes : [];
  const list = changes.map(({ kind, path }) => `  ${kind.type} ${showText(path)}`).join('\n');
  return {
    decision: await decide(
      `${showText(reason ?? 'The agent wants to change files.')}\n${list}`,
      signal,
    ),
  };
});

// This request has no item: it contains everything. The client can grant the requested permissions
// or fewer, never more.
client.handle(
  'item/permissions/requestApproval',
  async ({ threadId, turnId, permissions, reason }, { signal }) => {
    const { fileSystem, network } = permissions;
    const wanted = [
      ...(fileSystem?.read ?? []).map((path) => `  read ${showText(path)}`),
      ...(fileSystem?.write ?? []).map((path) => `  write ${showText(path)}`),
      ...(network?.enabled ? ['  reach the network'] : []),
    ];
    const decision = await decide(
      `${showText(reason ?? 'The agent requests permissions.')}\n${wanted.join('\n')}`,
      signal,
    );
    if (decision === 'cancel') await client.request('turn/interrupt', { threadId, turnId });
    const isGranted = decision === 'accept' || decision === 'acceptForSession';
    return {
      permissions: isGranted ? permissions : {},
      scope: decision === 'acceptForSession' ? 'session' : 'turn',
    };
  },
);

// Two kinds of questions come in one request. If `_meta` names a kind of approval, heddle asks
// whether it may call a tool, or send a prompt of the MCP server to the model. Otherwise an MCP
// server asks the user: it wants a form to be filled in, or a page to be visited.
client.handle(
  'mcpServer/elicitation/request',
  async (params, { signal }): Promise<McpServerElicitationRequestResponse> => {
    const { threadId, turnId, serverName, message } = params;
    // A call of a tool has its arguments, and a prompt for the model its messages.
    const {
      codex_approval_kind: kind,
      tool_params: call,
      sampling,
      persist,
    } = (params._meta ?? {}) as Record<string, unknown>;
    if (kind !== undefined) {
      const decision = await decide(
        `${showText(message)}\n  ${showText(JSON.stringify(call ?? sampling) ?? '')}`,
        signal,
      );
      if (decision === 'cancel' && turnId !== null)
        await client.request('turn/interrupt', { threadId, turnId });
      if (decision === 'decline' || decision === 'cancel') return { action: decision };
      const isLasting =
        decision === 'acceptForSession' && Array.isArray(persist) && persist.includes('session');
      return {
        action: 'accept',
        content: {},
        ...(isLasting ? { _meta: { persist: 'session' } } : {}),
      };
    }
    return ask(signal, async (type) => {
      const page =
        params.mode === 'url'
          ? `\n  Visit ${showText(params.url)}, and answer when you are done.`
          : '';
      const question = `The MCP server ${showText(serverName)} asks: ${showText(message)}${page}\n[y] answer, [n]o, [c]ancel: `;
      const action = await choose(type, question, {
        y: 'accept',
        n: 'decline',
        c: 'cancel',
      } as const);
      if (action !== 'accept' || params.mode === 'url') return { action };
      const { properties, required = [] } = params.requestedSchema;
      const content: Record<string, unknown> = {};
      for (const [name, field] of Object.entries(properties)) {
        const value = await fill(type, field, {
          label: field.title ?? name,
          isRequired: required.includes(name),
        });
        if (value !== undefined) content[name] = value;
      }
      return { action, content };
    });
  },
);

type FieldValue = string | number | boolean | string[];

/** Asks again until the line is a value of the field. Undefined: the field stays empty. */
async function fill(
  type: Type,
  field: McpElicitationPrimitiveSchema,
  about: { label: string; isRequired: boolean },
) {
  const options = optionsOf(field);
  const kind =
    options.length > 0
      ? options.join(field.type === 'array' ? ', ' : ' | ')
      : field.type === 'boolean'
        ? 'y | n'
        : field.type;
  for (;;) {
    const typed = (await type(showText(`${about.label} (${kind}): `))).trim();
    const value = typed === '' ? field.default : readValue(field, typed);
    if (value !== undefined || (typed === '' && !about.isRequired)) return value;
  }
}

/** The values that a field can have. An empty list: any. */
function optionsOf(field: McpElicitationPrimitiveSchema): string[] {
  const choice = field.type === 'array' ? field.items : field;
  if ('enum' in choice) return choice.enum;
  const options = 'oneOf' in choice ? choice.oneOf : 'anyOf' in choice ? choice.anyOf : [];
  return options.map((option) => option.const);
}

/**
 * Undefined: the field cannot have this value. The MCP server itself checks lengths, ranges and
 * formats.
 */
function readValue(field: McpElicitationPrimitiveSchema, typed: string): FieldValue | undefined {
  const options = optionsOf(field);
  const isOption = (value: string) => options.length === 0 || options.includes(value);
  switch (field.type) {
    case 'boolean':
      return { y: true, n: false }[typed];
    case 'number':
    case 'integer':
      return Number.isFinite(Number(typed)) ? Number(typed) : undefined;
    case 'array': {
      const values = typed.split(',').map((value) => value.trim());
      return values.every(isOption) ? values : undefined;
    }
    case 'string':
      return isOption(typed) ? typed : undefined;
    default:
      return field satisfies never;
  }
}

// Only in plan mode, or with `[features] default_mode_request_user_input`.
client.handle('item/tool/requestUserInput', ({ questions }, { signal }) =>
  ask(signal, async (type) => {
    const answers: Record<string, { answers: string[] }> = {};
    for (const { id, question, options } of questions) {
      const labels = (options ?? []).map(({ label }) => showText(label)).join(' | ');
      answers[id] = {
        answers: [await type(`${showText(question)}${labels === '' ? '' : ` (${labels})`}: `)],
      };
    }
    return { answers };
  }),
);

try {
  await client.initialize({ clientInfo: { name: 'approval-dialog', version: '1.0.0' } });
  const { thread } = await client.request('thread/start', {
    cwd: process.cwd(),
    approvalPolicy: 'untrusted',
  });
  const { turn, text } = await client.turn({ threadId: thread.id, input }).result;
  console.log(showText(text, { multiline: true }));
  console.log(`turn ${turn.status}`);
} finally {
  terminal.close();
  await client.close();
}
