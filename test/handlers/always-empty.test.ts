import { describe, expect, test } from 'vitest';
import { needsExperimentalApi } from '../support/expected.ts';
import { startServer } from '../support/test-server.ts';

/** Requests, and their empty results. */
const NOTHING: [string, unknown, unknown][] = [
  ['accountSession/list', {}, { activeSessionId: null, sessions: [] }],
  [
    'accountSession/list',
    { refreshWorkspaceMetadata: true },
    { activeSessionId: null, sessions: [] },
  ],
  ['app/installed', { forceRefresh: true, threadId: 'x' }, { apps: [] }],
  ['app/list', {}, { data: [], nextCursor: null }],
  [
    'app/list',
    { cursor: 'x', limit: 5, forceRefetch: false, threadId: null },
    { data: [], nextCursor: null },
  ],
  ['environment/status', { environmentId: 'local' }, { status: 'ready', error: null }],
  [
    'environment/status',
    { environmentId: 'cloud' },
    { status: 'unknown', error: 'unknown environment: cloud' },
  ],
  ['memory/status', {}, { v2ConsolidatedThreads: 0, v2Ready: false }],
  ['plugin/installed', { cwds: ['/x'] }, { marketplaces: [], marketplaceLoadErrors: [] }],
  [
    'plugin/list',
    { marketplaceKinds: ['local'] },
    { marketplaces: [], marketplaceLoadErrors: [], featuredPluginIds: [] },
  ],
  ['plugin/search', { searchTerm: '', scope: 'global' }, { data: [], nextCursor: null }],
  ['plugin/share/list', {}, { data: [] }],
  [
    'remoteControl/client/list',
    { environmentId: 'x', order: 'desc' },
    { data: [], nextCursor: null },
  ],
  [
    'remoteControl/status/read',
    undefined,
    { status: 'disabled', serverName: 'heddle', installationId: '', environmentId: null },
  ],
  [
    'thread/realtime/listVoices',
    {},
    { voices: { v1: [], v2: [], v3: [], defaultV1: 'cove', defaultV2: 'marin' } },
  ],
];

/** Methods of the protocol that this server does not serve. */
const REFUSED = [
  'account/gatewayOAuth/cancel',
  'account/gatewayOAuth/login',
  'account/gatewayOAuth/read',
  'account/rateLimitResetCredit/consume',
  'account/securitySetup/read',
  'account/sendAddCreditsNudgeEmail',
  'account/usage/read',
  'account/workspaceMessages/read',
  'app/read',
  'externalAgentConfig/import/recordHistory',
  'marketplace/add',
  'marketplace/remove',
  'marketplace/upgrade',
  'plugin/install',
  'plugin/read',
  'plugin/reconcile',
  'plugin/share/checkout',
  'plugin/share/delete',
  'plugin/share/save',
  'plugin/share/updateTargets',
  'plugin/skill/read',
  'plugin/uninstall',
  'skills/remote/export',
  'skills/remote/list',
  'windowsSandbox/readiness',
  'windowsSandbox/setupStart',
];

/** The same, for experimental methods. */
const REFUSED_EXPERIMENTAL = [
  'account/bedrock/checkGovCloudRequirements',
  'account/bedrock/discover',
  'account/bedrock/setup',
  'account/gcp/setup',
  'accountSession/switch',
  'environment/add',
  'environment/info',
  'memory/reset',
  'mock/experimentalMethod',
  'remoteControl/client/revoke',
  'remoteControl/disable',
  'remoteControl/enable',
  'remoteControl/pairing/start',
  'remoteControl/pairing/status',
  'rollout/compress',
  'thread/memory/read',
  'thread/prediction/request',
  'thread/realtime/appendAudio',
  'thread/realtime/appendSpeech',
  'thread/realtime/appendText',
  'thread/realtime/start',
  'thread/realtime/stop',
  'userVerification/cancel',
  'userVerification/delete',
  'userVerification/enroll',
  'userVerification/status',
  'userVerification/verify',
];

test('features that do not exist have empty results', async () => {
  const { client } = await startServer();
  for (const [method, params, answer] of NOTHING)
    expect([method, await client.call(method, params)]).toEqual([method, answer]);
});

test('methods that are not served are refused by their names, whatever their params', async () => {
  const { client, connect } = await startServer();
  const plain = await connect({ capabilities: null });
  for (const method of [...REFUSED, ...REFUSED_EXPERIMENTAL]) {
    expect([await client.refusal(method, {}), await client.refusal(method)]).toEqual([
      notSupported(method),
      notSupported(method),
    ]);
  }
  for (const method of REFUSED)
    expect(await plain.refusal(method, {})).toEqual(notSupported(method));
  for (const method of REFUSED_EXPERIMENTAL)
    expect(await plain.refusal(method, {})).toEqual(needsExperimentalApi(method));
});

describe('wrong params are still refused', () => {
  test.each<[string, unknown, string]>([
    ['app/list', undefined, 'params is missing: an object is expected'],
    ['app/list', { limit: -1 }, 'params.limit: -1 is less than 0'],
    ['app/installed', { forceRefresh: 'yes' }, 'params.forceRefresh: "yes" is not a boolean'],
    ['environment/status', {}, 'params.environmentId is missing: a string is expected'],
    ['externalAgentConfig/detect', { cwds: '/x' }, 'params.cwds: "/x" is not an array'],
    ['externalAgentConfig/import/readHistories', 5, 'params is not an object'],
    ['plugin/list', { cwds: [1] }, 'params.cwds[0]: 1 is not a string'],
    ['plugin/search', {}, 'params.searchTerm is missing: a string is expected'],
    [
      'remoteControl/client/list',
      { environmentId: 'x', order: 'up' },
      'params.order: "up" is none of "asc", "desc"',
    ],
  ])('%s %j', async (method, params, message) => {
    const { client } = await startServer();
    expect(await client.refusal(method, params)).toEqual({
      code: -32600,
      message,
      data: { code: 'invalid_params' },
    });
  });
});

function notSupported(method: string) {
  return {
    code: -32600,
    message: `${method} is not supported by this server`,
    data: { code: 'not_supported' },
  };
}
