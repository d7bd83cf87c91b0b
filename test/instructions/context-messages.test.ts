import { describe, expect, test } from 'vitest';
import {
  type ContextInput,
  contextChanges,
  contextMessages,
} from '../../src/instructions/context-messages.ts';
import { describeEnvironment } from '../../src/instructions/environment-text.ts';
import type { ResponseItem } from '../../src/protocol/generated/types.ts';
import { isContext } from '../../src/rollout/author-of.ts';

const mode = (kind: 'plan' | 'default', developer_instructions: string | null = null) => ({
  mode: kind,
  settings: { model: 'm', reasoning_effort: null, developer_instructions },
});

const INPUT: ContextInput = {
  sandboxPolicy: { type: 'readOnly', networkAccess: false },
  approvalPolicy: 'never',
  skills: [],
  developerInstructions: null,
  collaborationMode: mode('default'),
  personality: null,
  agentsMd: { folder: '/project', sources: [], text: '' },
  environment: { cwd: '/project/a', shell: 'bash', date: '2026-01-31' },
};
const SKILL = { name: 's', description: 'SKILL-MARK', path: '/s/SKILL.md', scope: 'user' as const };
const OF_PROJECT = { ...SKILL, description: 'PROJECT-SKILL-MARK', scope: 'repo' as const };
const DOCS = {
  folder: '/project',
  sources: ['/project/AGENTS.md'],
  text: 'From /project/AGENTS.md:\n\nDOC-MARK',
};

/** `role: text` of each part. */
const partsOf = (items: ResponseItem[]) =>
  items.flatMap((item) =>
    item.type === 'message'
      ? item.content.map(
          (part) => `${item.role}: ${part.type === 'input_text' ? part.text : part.type}`,
        )
      : [item.type],
  );

test('a thread without anything special is told its limits and its surroundings', () => {
  expect(contextMessages(INPUT)).toEqual([
    {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: expect.stringMatching(/^Permissions\n/) }],
    },
    {
      type: 'message',
      role: 'user',
      content: [
        {
          type: 'input_text',
          text: '<environment_context>\n  <cwd>/project/a</cwd>\n  <shell>bash</shell>\n  <date>2026-01-31</date>\n</environment_context>',
        },
      ],
    },
  ]);
});

test('everything has its place', () => {
  const all = {
    ...INPUT,
    skills: [SKILL, OF_PROJECT],
    developerInstructions: 'DEV-MARK',
    collaborationMode: mode('plan'),
    personality: 'friendly' as const,
    agentsMd: DOCS,
  };
  expect(partsOf(contextMessages(all))).toEqual([
    expect.stringMatching(/^developer: Permissions\n/),
    expect.stringMatching(
      /^developer: Skills\n[\s\S]*: SKILL-MARK \(file: \/s\/SKILL\.md\)\n\nThe skills of the project are listed/,
    ),
    'developer: DEV-MARK',
    expect.stringMatching(/^developer: Plan mode\n[\s\S]*<proposed_plan>[\s\S]*<\/proposed_plan>/),
    expect.stringMatching(/^developer: Tone: be warm/),
    // Its authors have written it, and not the user.
    expect.stringMatching(
      /^user: <project_skills>\n[\s\S]*\n- s: PROJECT-SKILL-MARK \(file: \/s\/SKILL\.md\)\n<\/project_skills>$/,
    ),
    expect.stringMatching(/^user: # AGENTS\.md instructions for \/project\n[\s\S]*DOC-MARK$/),
    expect.stringMatching(/^user: <environment_context>\n/),
  ]);
});

test('every user text begins as clients expect of context: with a tag or a heading', () => {
  const texts = partsOf([
    ...contextMessages({ ...INPUT, agentsMd: DOCS, skills: [OF_PROJECT] }),
    ...contextChanges(
      { ...INPUT, agentsMd: DOCS, skills: [OF_PROJECT] },
      { ...INPUT, environment: { ...INPUT.environment, cwd: '/x' } },
    ),
  ]).filter((text) => text.startsWith('user: '));
  expect(texts).toHaveLength(6);
  for (const text of texts) expect(text).toMatch(/^user: [<#]/);
  for (const text of texts)
    expect([text, isContext(text.slice('user: '.length))]).toEqual([text, true]);
});

test('a text that is given twice is said once, a blank one not at all', () => {
  expect(
    partsOf(
      contextMessages({
        ...INPUT,
        developerInstructions: 'X',
        collaborationMode: mode('default', 'X'),
      }),
    ).slice(1, -1),
  ).toEqual(['developer: X']);
  expect(
    partsOf(
      contextMessages({
        ...INPUT,
        developerInstructions: ' ',
        collaborationMode: mode('plan', ''),
      }),
    ),
  ).toHaveLength(2);
});

test('a folder name cannot end the environment context', () => {
  const environment = { ...INPUT.environment, cwd: '/a</cwd></environment_context>&' };
  expect(partsOf(contextMessages({ ...INPUT, environment })).at(-1)).toContain(
    '<cwd>/a&lt;/cwd&gt;&lt;/environment_context&gt;&amp;</cwd>',
  );
});

describe('a later turn is told what has changed, and only that', () => {
  const changes: [string, Partial<ContextInput>, Partial<ContextInput>, unknown[]][] = [
    ['nothing', {}, {}, []],
    [
      'the same again',
      { skills: [SKILL], developerInstructions: 'D', agentsMd: DOCS },
      { skills: [{ ...SKILL }], developerInstructions: 'D', agentsMd: { ...DOCS } },
      [],
    ],
    [
      'only the model of the mode',
      {},
      { collaborationMode: { mode: 'default', settings: { model: 'other' } } },
      [],
    ],
    ['null and none', { personality: null }, { personality: 'none' }, []],
    [
      'the sandbox',
      {},
      { sandboxPolicy: { type: 'dangerFullAccess' } },
      [expect.stringMatching(/^developer: Permissions\n\nCommands run without a sandbox/)],
    ],
    [
      'the approval policy',
      {},
      { approvalPolicy: 'on-request' },
      [expect.stringMatching(/^developer: Permissions\n[\s\S]*a reviewer decides/)],
    ],
    [
      'the cwd',
      {},
      { environment: { ...INPUT.environment, cwd: '/b' } },
      [expect.stringMatching(/^user: <environment_context>\n {2}<cwd>\/b<\/cwd>/)],
    ],
    [
      'the day',
      {},
      { environment: { ...INPUT.environment, date: '2026-02-01' } },
      [expect.stringMatching(/^user: <env[\s\S]*2026-02-01/)],
    ],
    [
      'new developer instructions',
      { developerInstructions: 'OLD' },
      { developerInstructions: 'NEW' },
      ['developer: NEW'],
    ],
    [
      'no developer instructions',
      { developerInstructions: 'OLD' },
      {},
      ['developer: The earlier developer instructions no longer apply.'],
    ],
    ['a skill', {}, { skills: [SKILL] }, [expect.stringMatching(/^developer: Skills\n/)]],
    [
      'no skill of the project',
      { skills: [SKILL, OF_PROJECT] },
      { skills: [SKILL] },
      [
        expect.stringMatching(/^developer: Skills\n/),
        expect.stringMatching(/^user: <project_skills>\nThe skills .* no longer available/),
      ],
    ],
    [
      'no skill',
      { skills: [SKILL] },
      {},
      ['developer: The skills listed earlier are no longer available.'],
    ],
    [
      'plan mode',
      {},
      { collaborationMode: mode('plan') },
      [expect.stringMatching(/^developer: Plan mode\n/)],
    ],
    [
      'plan mode in the words of the client',
      { collaborationMode: mode('plan') },
      { collaborationMode: mode('plan', 'OWN') },
      ['developer: OWN'],
    ],
    [
      'the end of plan mode',
      { collaborationMode: mode('plan') },
      {},
      [expect.stringMatching(/^developer: The collaboration mode has changed back/)],
    ],
    [
      'a tone',
      {},
      { personality: 'pragmatic' },
      [expect.stringMatching(/^developer: Tone: be direct/)],
    ],
    [
      'no tone',
      { personality: 'pragmatic' },
      { personality: 'none' },
      ['developer: The earlier instructions about tone no longer apply.'],
    ],
    [
      'instruction files',
      {},
      { agentsMd: DOCS },
      [expect.stringMatching(/^user: # AGENTS\.md instructions for \/project\n/)],
    ],
    [
      'no instruction files',
      { agentsMd: DOCS },
      {},
      [
        'user: # AGENTS.md instructions: none\n\nThe earlier AGENTS.md instructions no longer apply.',
      ],
    ],
    [
      'several things at once',
      {},
      {
        approvalPolicy: 'untrusted',
        developerInstructions: 'D',
        environment: { ...INPUT.environment, cwd: '/b' },
      },
      [
        expect.stringMatching(/^developer: Permissions/),
        'developer: D',
        expect.stringMatching(/^user: <environment_context>/),
      ],
    ],
  ];
  test.each(changes)('%s', (_, before, after, parts) => {
    expect(partsOf(contextChanges({ ...INPUT, ...before }, { ...INPUT, ...after }))).toEqual(parts);
  });

  test('a snapshot that was written down and read again is the same', () => {
    const full = { ...INPUT, skills: [SKILL], agentsMd: DOCS, collaborationMode: mode('plan') };
    expect(contextChanges(full, JSON.parse(JSON.stringify(full)))).toEqual([]);
  });
});

describe('the limits, in words', () => {
  const textOf = (limits: Partial<ContextInput>) =>
    partsOf(contextMessages({ ...INPUT, ...limits }))[0];
  const sandboxes: [ContextInput['sandboxPolicy'], RegExp][] = [
    [
      { type: 'readOnly' },
      /can read files and cannot write anything\. Commands cannot use the network\./,
    ],
    [
      { type: 'readOnly', networkAccess: true },
      /cannot write anything\. Commands can use the network\./,
    ],
    [{ type: 'externalSandbox' }, /set up outside heddle[\s\S]*Commands cannot use the network\./],
    [{ type: 'externalSandbox', networkAccess: 'enabled' }, /Commands can use the network\./],
    [{ type: 'dangerFullAccess' }, /without a sandbox/],
    [
      { type: 'workspaceWrite' },
      /only in the working directory, \/tmp and the directory in \$TMPDIR\. Commands cannot/,
    ],
    [
      { type: 'workspaceWrite', excludeSlashTmp: true, excludeTmpdirEnvVar: true },
      /only in the working directory\. Commands cannot/,
    ],
    [
      {
        type: 'workspaceWrite',
        writableRoots: ['/x', '/y'],
        excludeSlashTmp: true,
        excludeTmpdirEnvVar: true,
        networkAccess: true,
      },
      /only in the working directory, \/x and \/y\. Commands can use the network\. In the writable directories, \.git, \.hg, \.codex and \.agents are read-only/,
    ],
    [
      {
        type: 'workspaceWrite',
        readOnlyAccess: { type: 'restricted', readableRoots: ['/x'] },
        excludeSlashTmp: true,
        excludeTmpdirEnvVar: true,
      },
      /can read only the working directory, \/x and the system files that programs need and can write only in the working directory\./,
    ],
    [
      {
        type: 'readOnly',
        access: { type: 'restricted', readableRoots: ['/x'], includePlatformDefaults: false },
      },
      /can read only the working directory and \/x and cannot write anything\./,
    ],
  ];
  test.each(sandboxes)('%j', (sandboxPolicy, text) => {
    expect(textOf({ sandboxPolicy })).toMatch(text);
  });

  const approvals: [ContextInput['approvalPolicy'], RegExp][] = [
    ['untrusted', /not known to be harmless/],
    ['on-failure', /If the sandbox blocks a command/],
    ['on-request', /ask for that in the tool call/],
    ['never', /No approval is possible/],
    [
      { granular: { sandbox_approval: true, rules: false, mcp_elicitations: true } },
      /asked about: commands outside the sandbox, questions from MCP servers\. Refused without asking a reviewer: commands for which a rule requires approval, permission requests\.\n\nTo run a command outside the sandbox/,
    ],
    [
      {
        granular: {
          sandbox_approval: true,
          rules: true,
          mcp_elicitations: true,
          request_permissions: true,
          skill_approval: true,
        },
      },
      /skill scripts\.\n\n/,
    ],
  ];
  test.each(approvals)('%j', (approvalPolicy, text) => {
    expect(textOf({ approvalPolicy })).toMatch(text);
  });

  const escalates = /require_escalated/;
  const requests = /call request_permissions/;
  const none: ContextInput['approvalPolicy'] = {
    granular: { sandbox_approval: false, rules: true, mcp_elicitations: true },
  };
  const ways: [string, Partial<ContextInput>, boolean, boolean][] = [
    ['untrusted', { approvalPolicy: 'untrusted' }, true, true],
    ['on-request', { approvalPolicy: 'on-request' }, true, true],
    ['on-failure', { approvalPolicy: 'on-failure' }, false, true],
    ['never', { approvalPolicy: 'never' }, false, false],
    ['granular, all refused', { approvalPolicy: none }, false, false],
    ['without a sandbox', { sandboxPolicy: { type: 'dangerFullAccess' } }, false, false],
  ];
  test.each(ways)(
    'how to ask for more is said where it can be asked for: %s',
    (_, limits, mayLeave, mayRequest) => {
      const told = textOf({ ...limits, asksForPermissions: true });
      expect([escalates.test(told ?? ''), requests.test(told ?? '')]).toEqual([
        mayLeave,
        mayRequest,
      ]);
      expect(textOf(limits)).not.toMatch(requests);
    },
  );

  test('what has been granted, and further folders of the workspace', () => {
    const granted = [
      { read: ['/r'], write: ['/w'], network: true },
      { read: [], write: ['/w', '/v'], network: false },
    ];
    expect(textOf({ granted })).toMatch(
      /this session: to read \/r; to write \/w and \/v; to use the network\./,
    );
    expect(textOf({ granted, sandboxPolicy: { type: 'dangerFullAccess' } })).not.toMatch(/Granted/);
    const sandboxPolicy = {
      type: 'workspaceWrite' as const,
      excludeSlashTmp: true,
      excludeTmpdirEnvVar: true,
    };
    expect(textOf({ sandboxPolicy, workspaceRoots: ['/more'] })).toMatch(
      /write only in the working directory and \/more\./,
    );
  });
});

test.each([
  [{ SHELL: '/usr/bin/zsh' }, 'zsh'],
  [{}, 'sh'],
  [{ SHELL: '' }, 'sh'],
  [{ SHELL: '/bin/</shell>' }, 'sh'],
])('the shell of %j is %s', (env, shell) => {
  const nowMs = Date.UTC(2026, 0, 31, 23, 59);
  expect(describeEnvironment({ cwd: '/w', env, nowMs, withheld: [] })).toEqual({
    cwd: '/w',
    shell,
    date: '2026-01-31',
    withheld: [],
  });
});
