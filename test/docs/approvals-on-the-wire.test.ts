import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundleDefinitions, readMethodTable } from '../../schema/bundle.ts';
import { isObject, type JsonObject, type JsonValue } from '../../src/base/json-value.ts';
import { validateAnswer } from '../../src/protocol/generated/validate-answers.js';
import { exampleServer, mcpCall, withServers } from '../mcp/mcp-thread.ts';
import { PLAN_MODE, QUESTIONS } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { type Message, text } from '../support/test-client.ts';
import { functionCall, message, response, type Step } from '../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';
import { FREE_CONFIG } from '../tools/command-server.ts';
import { dialToWebServer, MANAGED_CONFIG } from '../tools/network/managed-server.ts';
import { blocksOf, codeIn, ROOT, section, textOf } from './pages.ts';

/** The pages with the JSON of requests and fields. No two of them have a heading in common. */
const WIRE_PAGES = [
  'docs/approvals-on-the-wire.md',
  'docs/approvals/elicitations.md',
  'docs/approvals/fields.md',
];
const SCHEMA = join(ROOT, 'schema');
const ASKING = FREE_CONFIG.replace('"never"', '"untrusted"');
const titled = (options: Record<string, string>) =>
  Object.entries(options).map(([value, title]) => ({ const: value, title }));
const FORM = {
  message: 'Which branch?',
  requestedSchema: {
    type: 'object',
    properties: {
      branch: {
        type: 'string',
        title: 'Branch',
        description: 'Where the release begins',
        minLength: 1,
      },
      number: { type: 'integer', title: 'Number', minimum: 1, default: 1 },
      sign: { type: 'boolean', title: 'Sign it', default: true },
      channel: { type: 'string', enum: ['stable', 'beta'] },
      speed: { type: 'string', oneOf: titled({ now: 'At once', night: 'Tonight' }) },
      targets: { type: 'array', items: { type: 'string', enum: ['linux', 'macos'] } },
      mails: { type: 'array', items: { anyOf: titled({ team: 'The team', all: 'Everybody' }) } },
    },
    required: ['branch'],
  },
};
const VISIT = {
  mode: 'url',
  message: 'Connect your account.',
  url: 'https://example.com/connect',
  elicitationId: 'e1',
};
const PROMPT = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Name a colour.' } }],
  maxTokens: 100,
};
const PATCH = '*** Begin Patch\n*** Add File: hello.txt\n+Hello.\n*** End Patch\n';
const TOOL = {
  name: 'lookup',
  description: 'Looks a ticket up.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
};

/** The turn that makes the server send the request of a section. */
interface Case {
  call: Step[];
  options?: TestServerOptions;
  thread?: object;
  turn?: object;
}

/** A call of a tool of the MCP server `docs`. */
function ofServer(tool: string, args: JsonObject): Case {
  return {
    call: mcpCall(tool, args, { server: 'docs' }),
    options: { config: withServers(exampleServer('docs')) },
  };
}

const COMMANDS: Case = {
  call: functionCall('exec_command', { cmd: 'mkdir -p build' }),
  options: { config: ASKING },
};

const QUESTION: Case = { call: functionCall('request_user_input', QUESTIONS), turn: PLAN_MODE };

const CASES: Record<string, Case> = {
  Commands: COMMANDS,
  Patches: { call: functionCall('apply_patch', { input: PATCH }), options: { config: ASKING } },
  Permissions: {
    call: functionCall('request_permissions', {
      reason: 'The cache is there.',
      permissions: { file_system: { write: ['/home/me/.cache'] }, network: { enabled: true } },
    }),
    options: {
      overrides: ['features.request_permissions_tool=true', 'sandbox_mode="workspace-write"'],
    },
  },
  'Questions of the model': QUESTION,
  'Approval of a call of an MCP tool': ofServer('write', { path: 'notes.md' }),
  'A form': ofServer('ask', { method: 'elicitation/create', request: FORM }),
  'An address': ofServer('ask', { method: 'elicitation/create', request: VISIT }),
  'A prompt for the model': ofServer('ask', { method: 'sampling/createMessage', request: PROMPT }),
  'Tools of the client': {
    call: functionCall('lookup', { id: '7' }),
    thread: { dynamicTools: [TOOL] },
  },
};

interface Asked {
  server: TestServer;
  threadId: string;
  turnId: string;
  question: Message;
}

/** Starts a thread whose model makes the call, and waits for the request of the server. */
async function askedFor(
  server: TestServer,
  { call, thread = {}, turn: params = {} }: Case,
): Promise<Asked> {
  const { client, model } = server;
  model.clear();
  model.push(response(call), response(message('done')), response(message('done')));
  const from = client.messages.length;
  const { thread: started } = await client.request('thread/start', thread);
  const { turn } = await client.request('turn/start', {
    threadId: started.id,
    input: text('go'),
    ...params,
  });
  const isRequest = ({ id, method }: Message) => id !== undefined && method !== undefined;
  const question =
    client.messages.slice(from).find(isRequest) ?? (await client.next('a request', isRequest));
  return { server, threadId: started.id, turnId: turn.id, question };
}

/**
 * A message as the page shows it: with the folders of its reader, and ids in the form that they
 * have there.
 */
function asOnPage({ cwd, home }: TestServer, value: unknown): unknown {
  const json = JSON.stringify(value)
    .replaceAll(cwd, '/home/me/try')
    .replaceAll(home, '/home/me/.heddle')
    .replaceAll('00000000-0000-7000-8000-', '019b76da-a800-7000-8000-');
  return JSON.parse(json);
}

/** The status of the item that was asked about, or "none", and that of the turn. */
async function ends({ server: { client }, turnId }: Asked): Promise<string[]> {
  const { status } = await client.turnCompleted(turnId);
  const completed = client.notifications('item/completed', (params) => params.turnId === turnId);
  const item = completed.map((params) => params.item).find(({ id }) => id === 'call_1');
  return [item !== undefined && 'status' in item ? String(item.status) : 'none', status];
}

function pageOf(heading: string): string {
  const page = WIRE_PAGES.find((name) =>
    textOf(name)
      .split('\n')
      .some((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading),
  );
  if (page === undefined) throw new Error(`no page has the heading "${heading}"`);
  return page;
}

/** The blocks of JSON below a heading, without those of the headings below it. */
function jsonBelow(heading: string): Record<string, unknown>[][] {
  const page = pageOf(heading);
  const all = section(page, heading).split(/^#/m)[0] ?? '';
  const blocks = blocksOf(page).filter(
    ({ language, text: json }) => language === 'json' && all.includes(json),
  );
  return blocks.map(({ text: json }) => {
    const isLines = json.split('\n').every((line) => line === '' || /^\{.*\}$/.test(line));
    return (isLines ? json.trimEnd().split('\n') : [json]).map(
      (part) => JSON.parse(part) as Record<string, unknown>,
    );
  });
}

/** The cells of the table below a heading that begins with this title. */
function cells(heading: string, title: string): string[][] {
  const [, rows = ''] = section(pageOf(heading), heading).split(`| ${title} |`);
  const [table = ''] = rows.split('\n\n');
  return table
    .split('\n')
    .slice(2)
    .filter((row) => row !== '')
    .map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
}

/** The request and the responses that the page shows below a heading. */
function documented(heading: string): {
  request: Record<string, unknown>;
  responses: Record<string, unknown>[];
} {
  const [[request = {}] = [], responses = []] = jsonBelow(heading);
  return { request, responses };
}

/** The words in code in the last two cells of a row. */
function statuses(row: readonly string[]): string[] {
  return row.slice(-2).map((cell) => codeIn(cell)[0] ?? cell);
}

test.each(Object.entries(CASES))(
  '%s: the request is what the server sends, and each response ends as the table says',
  async (heading, one) => {
    const { request, responses } = documented(heading);
    const rows = cells(heading, 'response');
    expect(responses).toHaveLength(rows.length);
    const server = await startServer(one.options);
    const first = await askedFor(server, one);
    expect(asOnPage(server, first.question)).toEqual(request);
    // State that lasts for other threads comes last.
    const lasts = (index: number) =>
      Number(/"always"|execpolicy_amendment/.test(JSON.stringify(responses[index])));
    const order = rows.map((_row, index) => index).sort((a, b) => lasts(a) - lasts(b));
    for (const [place, index] of order.entries()) {
      const asking = place === 0 ? first : await askedFor(server, one);
      server.client.send(JSON.stringify({ ...responses[index], id: asking.question.id }));
      expect([responses[index], ...(await ends(asking))]).toEqual([
        responses[index],
        ...statuses(rows[index] ?? []),
      ]);
    }
  },
);

test('the request about a host is what the server sends', { tags: 'slow' }, async () => {
  const { dial } = await dialToWebServer();
  const server = await startServer({ config: MANAGED_CONFIG, dial });
  const asking = await askedFor(server, {
    call: functionCall('exec_command', { cmd: 'curl -sS http://a.example/x' }),
  });
  const { request, responses } = documented('Hosts');
  expect(asOnPage(server, asking.question)).toEqual(request);
  server.client.send(JSON.stringify(responses.at(-1)));
  expect(await ends(asking)).toEqual(['failed', 'interrupted']);
});

test('the pages have a section for each request of the server, and the responses are valid', () => {
  const { serverRequests } = readMethodTable(SCHEMA);
  const headings = [...Object.keys(CASES), 'Hosts'];
  const all = headings.map((heading) => documented(heading));
  expect([...new Set(all.map(({ request }) => String(request.method)))].sort()).toEqual(
    Object.keys(serverRequests).sort(),
  );
  const invalid = all.flatMap(({ request, responses }) =>
    responses.filter(
      ({ id, result }) =>
        id !== request.id || validateAnswer[String(request.method)]?.(result) !== true,
    ),
  );
  expect(invalid).toEqual([]);
  for (const { responses } of all) expect(responses.length).toBeGreaterThan(0);
});

test('the responses have every decision that is offered, and every value that the schema has', () => {
  const decisions = (heading: string) =>
    documented(heading).responses.map(({ result }) =>
      isObject(result) ? (result.decision ?? result.action) : undefined,
    );
  for (const heading of ['Commands', 'Hosts']) {
    const { params } = documented(heading).request as { params: { availableDecisions: unknown[] } };
    expect(decisions(heading)).toEqual(params.availableDecisions);
  }
  const definitions = bundleDefinitions(SCHEMA);
  expect(decisions('Patches')).toEqual(definitions.FileChangeApprovalDecision?.enum);
  for (const heading of ['A form', 'An address'])
    expect([...new Set(decisions(heading))]).toEqual(definitions.McpServerElicitationAction?.enum);
  const scopes = documented('Permissions').responses.flatMap(({ result }) =>
    isObject(result) ? (result.scope ?? []) : [],
  );
  expect([...new Set(scopes)]).toEqual(definitions.PermissionGrantScope?.enum);
});

test('the messages after an answer are what the server sends', async () => {
  const server = await startServer(COMMANDS.options);
  const { question, turnId } = await askedFor(server, COMMANDS);
  const from = server.client.messages.length;
  server.client.send(JSON.stringify({ id: question.id, result: { decision: 'accept' } }));
  await server.client.turnCompleted(turnId);
  expect(asOnPage(server, server.client.messages.slice(from, from + 3))).toEqual(
    jsonBelow('After the response')[0],
  );
});

const TIMEOUT_MS = 60_000;
/** The ends of a question without a response that decides it, by the first word of the row. */
const ENDS: Record<string, (asking: Asked) => unknown> = {
  'turn/interrupt': ({ server, threadId, turnId }) =>
    server.client.request('turn/interrupt', { threadId, turnId }),
  'thread/archive': ({ server, threadId }) => server.client.request('thread/archive', { threadId }),
  approval_timeout_ms: ({ server }) => server.clock.advance(TIMEOUT_MS),
  error: ({ server, question: { id } }) =>
    server.client.send(JSON.stringify({ id, error: { code: -32000, message: 'no window' } })),
};

test('a question that nobody decides ends as the table says', async () => {
  const rows = cells('Timeouts and interrupts', 'end of the question');
  expect(rows.map(([first = '']) => codeIn(first)[0])).toEqual(Object.keys(ENDS));
  const server = await startServer({
    ...COMMANDS.options,
    overrides: [`approval_timeout_ms=${TIMEOUT_MS}`],
  });
  for (const row of rows) {
    const asking = await askedFor(server, COMMANDS);
    await ENDS[codeIn(row[0] ?? '')[0] ?? '']?.(asking);
    expect([row[0], ...(await ends(asking))]).toEqual([row[0], ...statuses(row)]);
    const { threadId, question } = asking;
    const resolved = server.client.notifications(
      'serverRequest/resolved',
      (params) => params.threadId === threadId,
    );
    expect(resolved).toEqual([{ threadId, requestId: question.id }]);
  }
});

describe('sandbox and sandboxPolicy', () => {
  const HEADING = 'sandbox and sandboxPolicy';

  test('each word of sandbox is the policy that the table says', async () => {
    const rows = cells(HEADING, '`sandbox`');
    expect(rows.map(([word = '']) => JSON.parse(codeIn(word)[0] ?? ''))).toEqual(
      bundleDefinitions(SCHEMA).SandboxMode?.enum,
    );
    const server = await startServer();
    for (const [word = '', policy = ''] of rows) {
      const started = await server.client.call('thread/start', {
        sandbox: JSON.parse(codeIn(word)[0] ?? ''),
      });
      expect(started).toMatchObject({ sandbox: JSON.parse(codeIn(policy)[0] ?? '') as object });
    }
  });

  test('each policy that the page shows is one that a thread can have', async () => {
    const [policies = []] = jsonBelow(HEADING);
    const variants = bundleDefinitions(SCHEMA).SandboxPolicy?.oneOf?.map(
      ({ properties }) => properties?.type?.const,
    );
    expect(
      policies.map(({ sandboxPolicy }) => (sandboxPolicy as { type: string }).type).sort(),
    ).toEqual(variants?.sort());
    const server = await startServer();
    mkdirSync(join(server.folder, 'shared'));
    await server.client.request('thread/start', {});
    for (const policy of policies) {
      await server.client.call('thread/settings/update', { threadId: idOf(1), ...policy });
      const { sandboxPolicy } = policy as { sandboxPolicy: { type: string } };
      const is = await server.client.waitFor(
        'thread/settings/updated',
        ({ threadSettings }) => threadSettings.sandboxPolicy.type === sandboxPolicy.type,
      );
      expect(is.threadSettings.sandboxPolicy).toMatchObject(sandboxPolicy);
    }
  });

  test('config of thread/start can have every key of the last column', async () => {
    const values: Record<string, JsonValue> = {
      sandbox_mode: 'workspace-write',
      sandbox_workspace_write: { network_access: true, writable_roots: ['/home/me/.cache'] },
      default_permissions: ':workspace',
      approval_policy: 'untrusted',
      approvals_reviewer: 'auto_review',
      approval_timeout_ms: TIMEOUT_MS,
    };
    const keys = cells('Which field is where', 'setting').flatMap((row) => codeIn(row[4] ?? ''));
    expect([...new Set(keys.map((key) => key.replace(/[[\]]|\..*/g, '')))].sort()).toEqual(
      Object.keys(values).sort(),
    );
    const server = await startServer();
    const { default_permissions: profile, ...others } = values;
    const started = await server.client.call('thread/start', { config: others });
    expect(started).toMatchObject({
      approvalPolicy: 'untrusted',
      approvalsReviewer: 'auto_review',
      sandbox: { type: 'workspaceWrite', networkAccess: true, writableRoots: ['/home/me/.cache'] },
    });
    const named = await server.client.call('thread/start', {
      config: { default_permissions: profile } as JsonObject,
    });
    expect(named).toMatchObject({ activePermissionProfile: { id: ':workspace' } });
    const { question } = await askedFor(server, { ...QUESTION, thread: { config: others } });
    expect(question.params).toMatchObject({ autoResolutionMs: TIMEOUT_MS });
  });

  test('the fields are where the table says', () => {
    const definitions = bundleDefinitions(SCHEMA);
    const columns: Record<string, string[]> = {
      1: ['ThreadStartParams', 'ThreadResumeParams', 'ThreadForkParams'],
      2: ['TurnStartParams', 'ThreadSettingsUpdateParams'],
      3: ['CommandExecParams'],
    };
    const known = [
      'sandbox',
      'sandboxPolicy',
      'permissions',
      'permissionProfile',
      'approvalPolicy',
      'approvalsReviewer',
      'runtimeWorkspaceRoots',
    ];
    const rows = cells('Which field is where', 'setting');
    for (const [column, names] of Object.entries(columns)) {
      const listed = rows
        .flatMap((row) => codeIn(row[Number(column)] ?? ''))
        .filter((field) => known.includes(field));
      for (const name of names) {
        const fields = Object.keys(definitions[name]?.properties ?? {}).filter((field) =>
          known.includes(field),
        );
        expect([name, [...fields].sort()]).toEqual([name, [...listed].sort()]);
      }
    }
  });
});
