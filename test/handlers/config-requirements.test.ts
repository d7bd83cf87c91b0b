import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';

const BASE =
  'model = "m"\nmodel_provider = "test"\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';
const LIMITS = `allowed_approval_policies = ["untrusted", "on-request"]
allowed_approvals_reviewers = ["user"]
allowed_sandbox_modes = ["read-only", "workspace-write"]
allowed_web_search_modes = ["cached"]
[features]
goals = false
`;
const system = { 'requirements.toml': LIMITS };

describe('the requirements of the administrator', () => {
  test('configRequirements/read returns them', async () => {
    const { client } = await startServer({ config: BASE, system });
    const requirements = {
      allowedApprovalPolicies: ['untrusted', 'on-request'],
      allowedApprovalsReviewers: ['user'],
      allowedSandboxModes: ['read-only', 'workspace-write'],
      allowedWebSearchModes: ['cached', 'disabled'],
      featureRequirements: { goals: false },
    };
    expect(await client.request('configRequirements/read', undefined)).toEqual({
      requirements,
      supportsIndependentSpeedModes: null,
    });
    const plain = await startServer({ config: BASE, system, capabilities: null });
    const { allowedApprovalsReviewers: _, ...others } = requirements;
    expect(await plain.client.request('configRequirements/read', undefined)).toMatchObject({
      requirements: others,
    });
  });

  test('limit the settings of config.toml, with a warning for each', async () => {
    const config = `approval_policy = "never"\nsandbox_mode = "danger-full-access"\nweb_search = "live"\n${BASE}[features]\ngoals = true\n`;
    const { client, home } = await startServer({ config, system });
    const { thread, approvalPolicy, sandbox } = await client.request('thread/start', {});
    expect([approvalPolicy, sandbox.type]).toEqual(['untrusted', 'readOnly']);
    expect(await client.refusal('thread/goal/get', { threadId: thread.id })).toMatchObject({
      data: { code: 'goals_disabled' },
    });
    const warning = await client.waitFor('configWarning', ({ summary }) =>
      summary.includes('approval_policy'),
    );
    expect(warning).toMatchObject({
      path: join(home, 'config.toml'),
      range: { start: { line: 1 } },
    });
    expect(warning.summary).toMatch(
      /approval_policy: "never" is not allowed by .*requirements\.toml, so "untrusted" counts$/,
    );
    const told = client.notifications('configWarning', ({ summary }) =>
      summary.includes('is not allowed by'),
    );
    expect(told).toHaveLength(4);
  });

  test('limit what thread/start asks for, with a warning', async () => {
    const { client } = await startServer({ config: BASE, system });
    const started = await client.request('thread/start', {
      approvalPolicy: 'never',
      sandbox: 'danger-full-access',
    });
    expect([started.approvalPolicy, started.sandbox.type]).toEqual(['untrusted', 'readOnly']);
    expect((await client.waitFor('warning')).message).toBe(
      'The approval policy "never" is not allowed on this machine: expected one of "untrusted", "on-request". ' +
        'The thread has "untrusted" in its place. ' +
        'The sandbox "danger-full-access" is not allowed on this machine: expected one of "read-only", "workspace-write". ' +
        'The thread has "read-only" in its place.',
    );
  });

  test('a warning names a permission profile that an allowed sandbox takes the place of', async () => {
    const { client } = await startServer({ config: BASE, system });
    const started = await client.request('thread/start', {
      approvalsReviewer: 'auto_review',
      permissions: ':danger-full-access',
    });
    expect([started.approvalsReviewer, started.sandbox.type]).toEqual(['user', 'readOnly']);
    expect((await client.waitFor('warning')).message).toBe(
      'The reviewer "auto_review" is not allowed on this machine: expected one of "user". The thread has "user" in its place. ' +
        'The sandbox "danger-full-access" is not allowed on this machine: expected one of "read-only", "workspace-write". ' +
        'The thread has "read-only" in its place. ' +
        'The permission profile ":danger-full-access" is not in force, because its sandbox is not allowed.',
    );
  });

  test('a refusal names all values that are not allowed', async () => {
    const { client } = await startServer({ config: BASE, system });
    const { thread } = await client.request('thread/start', {});
    const asked = { approvalPolicy: 'never', sandboxPolicy: { type: 'dangerFullAccess' } } as const;
    expect(
      await client.refusal('turn/start', { threadId: thread.id, input: [], ...asked }),
    ).toMatchObject({
      message: expect.stringMatching(
        /^the approval policy "never" is .*"on-request"; the sandbox "danger-full-access" is .*\)$/,
      ),
    });
  });

  test('do not loosen what a client asks for or what a thread has kept more than they must', async () => {
    const limits =
      'allowed_approval_policies = ["never", "untrusted"]\nallowed_sandbox_modes = ["danger-full-access", "workspace-write"]\n';
    const network = '[sandbox_workspace_write]\nnetwork_access = true\n';
    const config = `approval_policy = "on-request"\nsandbox_mode = "danger-full-access"\n${BASE}${network}`;
    const { client } = await startServer({ config, system: { 'requirements.toml': limits } });
    const asked = await client.request('thread/start', { sandbox: 'read-only' });
    expect([asked.approvalPolicy, asked.sandbox]).toMatchObject([
      'untrusted',
      { type: 'workspaceWrite', networkAccess: false },
    ]);
    const profile = await client.request('thread/start', { permissions: ':read-only' });
    expect(profile.sandbox).toMatchObject({ type: 'workspaceWrite', networkAccess: false });
    const configured = await client.request('thread/start', {});
    expect([configured.approvalPolicy, configured.sandbox.type]).toEqual([
      'untrusted',
      'dangerFullAccess',
    ]);
  });

  test.each([
    ['turn/start', { approvalPolicy: 'never' }, 'the approval policy "never"'],
    ['turn/start', { approvalsReviewer: 'auto_review' }, 'the reviewer "auto_review"'],
    [
      'turn/start',
      { sandboxPolicy: { type: 'dangerFullAccess' } },
      'the sandbox "danger-full-access"',
    ],
    ['turn/start', { permissions: ':danger-full-access' }, 'the sandbox "danger-full-access"'],
    ['thread/settings/update', { approvalPolicy: 'never' }, 'the approval policy "never"'],
    [
      'command/exec',
      { command: ['true'], sandboxPolicy: { type: 'dangerFullAccess' } },
      'the sandbox "danger-full-access"',
    ],
    [
      'command/exec',
      { command: ['true'], sandboxPolicy: { type: 'externalSandbox' } },
      'the sandbox "danger-full-access"',
    ],
  ])('%s with %j is refused', async (method, params, what) => {
    const { client } = await startServer({ config: BASE, system });
    const { thread } = await client.request('thread/start', {});
    expect(await client.refusal(method, { threadId: thread.id, input: [], ...params })).toEqual({
      code: -32600,
      message: expect.stringMatching(
        new RegExp(
          `^${what} is not allowed on this machine: expected one of .*requirements\\.toml\\)$`,
        ),
      ),
      data: { code: 'not_allowed' },
    });
  });

  test('cannot be written away', async () => {
    const { client } = await startServer({ config: BASE, system });
    const edit = { keyPath: 'features.goals', value: true, mergeStrategy: 'replace' };
    expect(await client.refusal('config/value/write', edit)).toMatchObject({
      message: expect.stringContaining('features.goals: true is not allowed by'),
      data: { config_write_error_code: 'configValidationError' },
    });
  });

  test.each([
    [
      'allowed_sandbox_modes = ["read"]\n',
      /requirements\.toml:1:1: allowed_sandbox_modes: expected a list whose elements are each one of "read-only"/,
    ],
    ['allowed_approval_policies = "never"\n', /allowed_approval_policies: expected a list/],
    ['[features]\ngoals = "no"\n', /features: expected a table of features, each true or false/],
    ['permissions = 1\n', /permissions: expected a table with a table `filesystem`/],
    ['permissions.filesystem = []\n', /permissions: expected a table with a table `filesystem`/],
    [
      '[permissions.filesystem]\ndeny_read = "/x"\n',
      /requirements\.toml:2:1: permissions\.filesystem\.deny_read: expected a list of at most 200/,
    ],
    [
      '[permissions.filesystem]\ndeny_read = ["/x", ""]\n',
      /deny_read: expected a list of at most 200/,
    ],
    [
      '[permissions.filesystem]\ndeny_read = ["x/*.env"]\n',
      /deny_read: "x\/\*\.env" cannot be used: expected an absolute path/,
    ],
    ['[permissions.filesystem]\ndeny_read = ["/x/{a,b"]\n', /cannot be used: a `\{` has no `\}`/],
    [
      '[permissions.filesystem]\ndeny_read = ["/**/*.env"]\n',
      /cannot be used: it begins at the root of the file system/,
    ],
    [
      '[permissions.filesystem]\ndeny_read = ["/x/../*.env"]\n',
      /cannot be used: it contains `\.` or `\.\.`/,
    ],
    ['[permissions.filesystem]\ndeny_read = ["/"]\n', /cannot be used: it names nothing/],
    [
      '[permissions.filesystem]\ndeny_read = ["/x"]\nglob_scan_max_depth = 0\n',
      /glob_scan_max_depth: expected a whole number above 0/,
    ],
    [
      'allowed_sandbox_modes = ["danger-full-access"]\n[permissions.filesystem]\ndeny_read = ["/x"]\n',
      /allowed_sandbox_modes: with permissions\.filesystem\.deny_read, expected "read-only" or "workspace-write"/,
    ],
    ['x = [', /requirements\.toml:1:\d+: not valid TOML/],
  ])('that cannot be read refuse threads: %j', async (text, message) => {
    const { client } = await startServer({ config: BASE, system: { 'requirements.toml': text } });
    expect(await client.refusal('thread/start', {})).toMatchObject({
      message: expect.stringMatching(message),
      data: { code: 'config_invalid' },
    });
  });

  test('that hide files leave no sandbox mode without a sandbox', async () => {
    const denied = {
      'requirements.toml':
        '[permissions.filesystem]\ndeny_read = ["/x"]\ndeny_write = ["/y"]\n[permissions.other]\n',
    };
    const config = `sandbox_mode = "danger-full-access"\n${BASE}`;
    const { client } = await startServer({ config, system: denied });
    const { requirements } = await client.request('configRequirements/read', undefined);
    expect(requirements?.allowedSandboxModes).toEqual(['read-only', 'workspace-write']);
    const { thread, sandbox } = await client.request('thread/start', {});
    expect(sandbox.type).toBe('readOnly');
    const unknown = 'permissions.other, permissions.filesystem.deny_write';
    await client.waitFor('configWarning', ({ summary }) =>
      summary.endsWith(`does not enforce these requirements: ${unknown}`),
    );
    await client.waitFor('configWarning', ({ summary }) =>
      summary.includes('"danger-full-access" is not allowed by'),
    );
    const input = [{ type: 'text' as const, text: 'hi' }];
    for (const type of ['dangerFullAccess', 'externalSandbox'] as const) {
      const refusal = { data: { code: 'not_allowed' } };
      expect(
        await client.refusal('turn/start', { threadId: thread.id, input, sandboxPolicy: { type } }),
      ).toMatchObject(refusal);
      expect(
        await client.refusal('command/exec', { command: ['true'], sandboxPolicy: { type } }),
      ).toMatchObject(refusal);
    }
  });

  test('that heddle does not enforce are named', async () => {
    const { client } = await startServer({
      config: BASE,
      system: { 'requirements.toml': 'enforce_residency = "us"\n' },
    });
    const { summary } = await client.waitFor('configWarning');
    expect(summary).toMatch(
      /requirements\.toml: heddle does not enforce these requirements: enforce_residency$/,
    );
  });
});

test('the config.toml of the system is below that of the home', async () => {
  const files = { 'config.toml': 'model = "of-system"\nreview_model = "r"\n' };
  const { client } = await startServer({ config: BASE, system: files });
  const { config, layers, origins } = await client.request('config/read', { includeLayers: true });
  expect([config.model, config.review_model]).toEqual(['m', 'r']);
  expect(layers?.map(({ name }) => name.type)).toEqual(['user', 'system']);
  expect(origins.review_model?.name.type).toBe('system');
});
