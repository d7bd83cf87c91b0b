import { describe, expect, test } from 'vitest';
import { experimentalField, paramsProblem } from '../../src/protocol/params-problem.ts';

const long = 'x'.repeat(200);
const text = { type: 'text', text: 'hi' };

describe('wrong params are refused with the field, the expected value and the found one', () => {
  test.each<[string, unknown, string]>([
    ['thread/list', undefined, 'params is missing: an object is expected'],
    ['thread/list', null, 'params: null is not an object'],
    ['thread/list', [], 'params: an array is not an object'],
    ['thread/list', 'all', 'params: "all" is not an object'],
    ['configRequirements/read', 5, 'params is not an object'],
    ['thread/read', {}, 'params.threadId is missing: a string is expected'],
    ['thread/read', { threadId: null }, 'params.threadId: null is not a string'],
    ['thread/read', { threadId: 7 }, 'params.threadId: 7 is not a string'],
    ['thread/read', { threadId: { id: 7 } }, 'params.threadId: an object is not a string'],
    [
      'thread/read',
      { threadId: 'x', includeTurns: 'yes' },
      'params.includeTurns: "yes" is not a boolean',
    ],
    [
      'initialize',
      { clientInfo: { name: 'x' } },
      'params.clientInfo.version is missing: a string is expected',
    ],
    ['initialize', {}, 'params.clientInfo is missing: an object is expected'],
    [
      'initialize',
      { clientInfo: { name: 'x', version: '1' }, capabilities: { optOutNotificationMethods: [1] } },
      'params.capabilities.optOutNotificationMethods[0]: 1 is not a string',
    ],
    [
      'thread/start',
      { sandbox: 'workspaceWrite' },
      'params.sandbox: "workspaceWrite" is none of "read-only", "workspace-write", "danger-full-access"',
    ],
    [
      'thread/start',
      { sandbox: long },
      `params.sandbox: "${'x'.repeat(60)}…" is none of "read-only", "workspace-write", "danger-full-access"`,
    ],
    [
      'thread/start',
      { sandbox: `${'x'.repeat(59)}😀` },
      `params.sandbox: "${'x'.repeat(59)}…" is none of "read-only", "workspace-write", "danger-full-access"`,
    ],
    [
      'thread/start',
      { sandbox: 3 },
      'params.sandbox: 3 is not a string: expected one of "read-only", "workspace-write", "danger-full-access"',
    ],
    [
      'thread/start',
      { sandbox: { type: 'readOnly' } },
      'params.sandbox: an object is not a string: expected one of "read-only", "workspace-write", "danger-full-access"',
    ],
    [
      'thread/start',
      { approvalPolicy: 'sometimes' },
      'params.approvalPolicy: "sometimes" is none of "untrusted", "on-failure", "on-request", "never"',
    ],
    [
      'thread/start',
      { approvalPolicy: 3 },
      'params.approvalPolicy: 3 is not a string or an object',
    ],
    [
      'thread/start',
      { approvalPolicy: {} },
      'params.approvalPolicy.granular is missing: an object is expected',
    ],
    [
      'thread/start',
      { approvalPolicy: { granular: { rules: true, mcp_elicitations: true } } },
      'params.approvalPolicy.granular.sandbox_approval is missing: a boolean is expected',
    ],
    [
      'thread/start',
      { dynamicTools: [{ name: 'x', inputSchema: {} }] },
      'params.dynamicTools[0].description or type is missing: a string is expected',
    ],
    ['thread/start', { config: 'a=1' }, 'params.config: "a=1" is not an object'],
    [
      'thread/list',
      { sortKey: 'size' },
      'params.sortKey: "size" is none of "created_at", "updated_at", "recency_at", "section_position"',
    ],
    ['thread/list', { limit: -1 }, 'params.limit: -1 is less than 0'],
    ['thread/list', { limit: 2 ** 32 }, 'params.limit: 4294967296 is more than 4294967295'],
    ['thread/list', { limit: 1.5 }, 'params.limit: 1.5 is not an integer'],
    ['thread/list', { limit: 'many' }, 'params.limit: "many" is not an integer'],
    ['thread/list', { cwd: 3 }, 'params.cwd: 3 is not a string or an array'],
    ['thread/list', { cwd: ['/a', 3] }, 'params.cwd[1]: 3 is not a string'],
    [
      'thread/items/list',
      { threadId: 'x', cursor: { type: 'turn' } },
      'params.cursor.type: "turn" is not "item"',
    ],
    ['turn/start', { threadId: 'x' }, 'params.input is missing: an array is expected'],
    ['turn/start', { threadId: 'x', input: 'hi' }, 'params.input: "hi" is not an array'],
    [
      'turn/start',
      { threadId: 'x', input: [{}] },
      'params.input[0].type is missing: one of "text", "image", "localImage", "audio", "localAudio", "skill", "mention" is expected',
    ],
    [
      'turn/start',
      { threadId: 'x', input: [{ type: 'hologram' }] },
      'params.input[0].type: "hologram" is none of "text", "image", "localImage", "audio", "localAudio", "skill", "mention"',
    ],
    [
      'turn/start',
      { threadId: 'x', input: [{ type: 5 }] },
      'params.input[0].type: 5 is not allowed',
    ],
    [
      'turn/start',
      { threadId: 'x', input: [text, { type: 'text' }] },
      'params.input[1].text is missing: a string is expected',
    ],
    [
      'turn/start',
      { threadId: 'x', input: [{ type: 'image' }] },
      'params.input[0].url or fileId is missing: a string is expected',
    ],
    [
      'turn/start',
      { threadId: 'x', input: [{ type: 'image', url: null }] },
      'params.input[0].url: null is not a string',
    ],
    [
      'turn/start',
      {
        threadId: 'x',
        input: [{ ...text, text_elements: [{ byteRange: { start: -1, end: 2 } }] }],
      },
      'params.input[0].text_elements[0].byteRange.start: -1 is less than 0',
    ],
    [
      'turn/start',
      { threadId: 'x', input: [], effort: '' },
      'params.effort: an empty string is not allowed',
    ],
    [
      'turn/start',
      { threadId: 'x', input: [], sandboxPolicy: { type: 'workspaceWrite', writableRoots: '/a' } },
      'params.sandboxPolicy.writableRoots: "/a" is not an array',
    ],
    [
      'turn/start',
      {
        threadId: 'x',
        input: [],
        additionalContext: { 'a/b c~': { value: 1, kind: 'untrusted' } },
      },
      'params.additionalContext["a/b c~"].value: 1 is not a string',
    ],
    [
      'thread/resume',
      {
        threadId: 'x',
        history: [{ type: 'function_call_output', call_id: 'c', output: { success: true } }],
      },
      'params.history[0].output.body is missing: a string or an array is expected',
    ],
  ])('%s %j', async (method, params, problem) => {
    expect(await paramsProblem(method, params)).toBe(problem);
  });
});

describe('valid params pass', () => {
  test.each<[string, unknown]>([
    ['thread/start', {}],
    [
      'thread/start',
      { someFutureField: { x: 1 }, cwd: null, ephemeral: null, config: null, approvalPolicy: null },
    ],
    ['thread/list', { limit: 1.0, cwd: ['/a'], useStateDbOnly: null, cursor: null }],
    [
      'turn/start',
      {
        threadId: 'x',
        input: [{ ...text, future: 1, text_elements: null }],
        outputSchema: null,
        summary: null,
      },
    ],
    ['configRequirements/read', undefined],
    ['configRequirements/read', null],
    ['configRequirements/read', { future: 1 }],
  ])('%s %j', async (method, params) => {
    expect(await paramsProblem(method, params)).toBe(null);
  });
});

describe('experimental fields', () => {
  test.each<[string, unknown, string | null]>([
    ['thread/start', { dynamicTools: [] }, 'thread/start.dynamicTools'],
    ['thread/start', { dynamicTools: null, experimentalRawEvents: false, model: 'm' }, null],
    ['thread/start', { experimentalRawEvents: true }, 'thread/start.experimentalRawEvents'],
    [
      'thread/start',
      {
        approvalPolicy: {
          granular: { sandbox_approval: true, rules: true, mcp_elicitations: true },
        },
      },
      'askForApproval.granular',
    ],
    ['thread/start', { approvalPolicy: 'never' }, null],
    ['thread/resume', { threadId: 'x', history: [] }, 'thread/resume.history'],
    ['thread/resume', { threadId: 'x', excludeTurns: true }, null],
    [
      'thread/items/list',
      { threadId: 'x', deferOutput: { commandExecution: true } },
      'thread/items/list.deferOutput.commandExecution',
    ],
    [
      'turn/start',
      { threadId: 'x', input: [], collaborationMode: {} },
      'turn/start.collaborationMode',
    ],
    ['no/such/method', { dynamicTools: [] }, null],
  ])('%s %j: %s', (method, params, field) => {
    expect(experimentalField(method, params)).toBe(field);
  });
});
