import { expect, test } from 'vitest';
import {
  ALLOW,
  assesses,
  DENY,
  guarded,
  keptReviews,
  reviewsCompleted,
  toldOf,
} from '../../agent/guardian/guardian-server.ts';
import { answer, question } from '../../support/asking.ts';
import { Gate } from '../../support/gate.ts';
import { functionCall, response } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { completed, done, modelOutput, runs, THREAD } from '../command-server.ts';
import { decide, dialToWebServer, MANAGED_CONFIG, managed, questions } from './managed-server.ts';

const FETCH = 'curl -sS http://a.example/x';
const PROFILE = `default_permissions = "p"\n${MANAGED_CONFIG.replace(/sandbox_mode = .*\n/, '').replace(/\[sandbox_workspace_write\][\s\S]*/, '')}
[permissions.p]
extends = ":workspace"
[permissions.p.network]
enabled = true
`;

test.each([
  ['approved', ALLOW, 'GET /x a.example '],
  ['denied', DENY, /^heddle: This action was rejected by the automatic reviewer/],
])(
  'with the guardian as the reviewer, access to a host is %s by a review',
  async (status, assessment, output) => {
    const { dial } = await dialToWebServer();
    const server = await guarded(
      { turns: [runs(FETCH), done], reviews: [assesses(assessment)] },
      { config: `approvals_reviewer = "auto_review"\n${MANAGED_CONFIG}`, dial },
    );
    await server.client.turn(THREAD, 'Fetch it.');
    const action = {
      type: 'networkAccess',
      target: 'http://a.example:80',
      host: 'a.example',
      protocol: 'http',
      port: 80,
    };
    expect(server.client.notifications('item/autoApprovalReview/started')).toMatchObject([
      { targetItemId: 'call_1', action },
    ]);
    expect(reviewsCompleted(server)).toMatchObject([
      { targetItemId: 'call_1', action, review: { status } },
    ]);
    const [item] = completed(server);
    expect(item?.aggregatedOutput).toMatch(output);
    expect(keptReviews(item)).toMatchObject([{ action, review: { status } }]);
    expect(JSON.stringify(server.model.reviews[0]?.input)).toContain('http://a.example:80');
    expect(
      toldOf(server.model).includes(
        'No connection to http://a.example:80: This action was rejected',
      ),
    ).toBe(status === 'denied');
    expect(questions(server)).toEqual([]);
  },
);

test('three denials of hosts in a row interrupt the turn and kill the command', async () => {
  const { dial } = await dialToWebServer();
  const server = await guarded(
    {
      turns: [runs('for host in a b c d; do curl -sS http://$host.example/; done; sleep 1000')],
      reviews: [assesses(DENY)],
    },
    { config: `approvals_reviewer = "auto_review"\n${MANAGED_CONFIG}`, dial },
  );
  expect((await server.client.turn(THREAD, 'go')).status).toBe('interrupted');
  expect(reviewsCompleted(server)).toHaveLength(3);
  expect(completed(server)).toMatchObject([{ status: 'failed' }]);
});

test('a review ends when its command ends', async () => {
  const { dial } = await dialToWebServer();
  async function* hangs(_request: unknown, signal: AbortSignal) {
    await new Gate().pass(signal);
    yield* [];
  }
  const server = await guarded(
    { turns: [runs(`${FETCH} & sleep 0.3; kill $!; echo over`), done], reviews: [hangs] },
    { config: `approvals_reviewer = "auto_review"\n${MANAGED_CONFIG}`, dial },
  );
  expect((await server.client.turn(THREAD, 'go')).status).toBe('completed');
  await server.client.waitFor('item/autoApprovalReview/completed');
  expect(reviewsCompleted(server)).toMatchObject([
    { action: { type: 'networkAccess' }, review: { status: 'aborted' } },
  ]);
  expect(server.client.notifications('guardianWarning')).toEqual([]);
});

test('a permission profile with limits is in force without the feature, and only for its threads', async () => {
  const config = `${PROFILE}mode = "limited"\n[permissions.p.network.domains]\n"a.example" = "allow"\n`;
  const server = await managed(
    [
      runs(
        `${FETCH}; curl -sS -d data http://a.example/; curl -sS --proxytunnel http://a.example:443/`,
      ),
      done,
    ],
    {
      config,
    },
  );
  await server.client.turn(THREAD, 'go');
  const limited = 'The network is limited to GET, HEAD and OPTIONS requests over plain HTTP.';
  expect(completed(server)[0]?.aggregatedOutput).toContain(`GET /x a.example heddle: ${limited}\n`);
  expect(modelOutput(server)).toContain(`No connection to https://a.example:443: ${limited}\n`);
  expect(server.reached).toEqual(['http://a.example:80']);
  const { model, client } = server;
  model.push(runs('echo "[$HTTP_PROXY]"', {}, 'call_2'), done);
  const { thread } = await client.request('thread/start', { permissions: ':workspace' });
  await client.turn(thread.id, 'go');
  expect(completed(server)[1]?.aggregatedOutput).toBe('[]\n');
});

test('a granted permission for the network leads through the proxy, too', async () => {
  const config = MANAGED_CONFIG.replace('network_access = true', 'network_access = false').replace(
    '[features.network_proxy]',
    '[features]\nrequest_permissions_tool = true\n[features.network_proxy]',
  );
  const asks = response(
    functionCall('request_permissions', {
      reason: 'r',
      permissions: { network: { enabled: true } },
    }),
  );
  const server = await managed([asks, runs(FETCH, {}, 'call_2'), done], { config });
  const turn = server.client.turn(THREAD, 'go');
  const asked = await question(server.client, 'item/permissions/requestApproval');
  answer(server.client, asked, { permissions: { network: { enabled: true } }, scope: 'turn' });
  await decide(server, 'accept');
  await turn;
  expect(server.reached).toEqual(['http://a.example:80']);
});

test('the model is told of the proxy and its lists, and of their end', async () => {
  const lists =
    '[features.network_proxy.domains]\n"**.a.example" = "allow"\n"b.example" = "deny"\n';
  const server = await managed([done, done, done], { config: `${MANAGED_CONFIG}${lists}` });
  const texts = () =>
    JSON.stringify(
      server.model
        .request(server.model.requests.length)
        .input.filter((item) => item.type === 'message'),
    );
  await server.client.turn(THREAD, 'go');
  expect(texts()).toContain('reach the network only through the proxy');
  expect(texts()).toContain(
    'Allowed hosts: **.a.example. Denied hosts: b.example. Rules of the user may allow or deny more. A reviewer is asked about each other host',
  );
  await server.client.turn(THREAD, 'go', { approvalPolicy: 'never' });
  expect(texts()).toContain('All other hosts are refused.');
  const from = texts().length;
  await server.client.turn(THREAD, 'go', { sandboxPolicy: { type: 'dangerFullAccess' } });
  expect(texts().slice(from)).not.toContain('proxy');
});

test('settings of the network and permission profiles that are invalid are reported when a client connects', async () => {
  const config = `${MANAGED_CONFIG}mode = "open"\n[permissions.p.network.domains]\n"a b" = "allow"\n[permissions.q]\nextends = "nowhere"\n`;
  const server = await startServer({ config });
  const told = () =>
    server.client
      .notifications('configWarning')
      .map(({ summary }) => summary.replace(/^.*config\.toml:[\d:]* /, ''));
  await server.client.waitFor('configWarning', () => told().length === 3);
  expect(told()).toEqual([
    'features.network_proxy.mode: expected one of "full", "limited", found "open"',
    'permissions.p.network.domains.a b: expected a host, or a pattern such as `*.example.com`, `**.example.com` or `*`',
    'permissions.q.extends: there is no permission profile `nowhere`',
  ]);
});
