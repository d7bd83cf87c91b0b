import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chatStream, DONE, delta, finish } from '../model/chat-stream.ts';
import {
  completed,
  message,
  ProviderServer,
  type Reply,
  refusing,
  streaming,
} from '../model/provider-server.ts';
import { idOf } from '../support/counting-ids.ts';
import { startServer } from '../support/test-server.ts';

const KEYS = { K: 'plain-key-of-the-provider', H: 'key-of-a-header' };
const ALL = [...Object.values(KEYS), 'key-in-http-headers'];
const SAID = ALL.join(' ');

const args = JSON.stringify({ cmd: `echo ${SAID}` });
const refused = refusing(400, { error: { message: `Bad key ${SAID}` } });

const responses: Reply[] = [
  streaming(
    ...ALL.flatMap((key, index) => reasoned(key, `rs_${index}`)),
    {
      type: 'response.output_item.done',
      item: { type: 'function_call', call_id: 'call', name: 'exec_command', arguments: args },
    },
    completed,
  ),
  streaming(...message(SAID), completed),
  refused,
];
const chat: Reply[] = [
  chatStream(
    ...[...SAID].map((char) => delta({ reasoning_content: char })),
    delta({
      tool_calls: [{ index: 0, id: 'call', function: { name: 'exec_command', arguments: args } }],
    }),
    finish('tool_calls'),
    DONE,
  ),
  chatStream(...[...SAID].map((char) => delta({ content: char })), finish('stop'), DONE),
  refused,
];

function reasoned(text: string, id: string): object[] {
  const item = { type: 'reasoning', id, summary: [] };
  return [
    { type: 'response.output_item.added', output_index: 0, item },
    ...[...text].map((char) => ({
      type: 'response.reasoning_text.delta',
      item_id: id,
      content_index: 0,
      delta: char,
    })),
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...item, content: [{ type: 'reasoning_text', text }] },
    },
  ];
}

test.each([
  ['responses', responses],
  ['chat', chat],
])(
  'keys that a provider with the API %s repeats reach neither clients nor the database, the log or the next prompt',
  async (api, replies) => {
    await using provider = await ProviderServer.start(...replies);
    const config = `model = "m"
model_provider = "p"
show_raw_agent_reasoning = true
sandbox_mode = "danger-full-access"
approval_policy = "never"
[model_providers.p]
base_url = "http://127.0.0.1:${provider.port}/v1"
wire_api = "${api}"
env_key = "K"
env_http_headers = { "X-Other" = "H" }
http_headers = { "X-More" = "Bearer key-in-http-headers" }
request_max_retries = 0
`;
    const server = await startServer({ config, model: null, env: KEYS });
    await server.client.request('thread/start', {});
    await server.client.turn(idOf(1), 'one');
    await server.client.turn(idOf(1), 'two');
    await server.close();
    const files = readdirSync(server.home).filter((name) => name.startsWith('heddle.db'));
    expect(files).toContain('heddle.db');
    const told = {
      client: JSON.stringify(server.client.messages),
      log: JSON.stringify(server.log),
      prompts: JSON.stringify(provider.requests.map(({ body }) => body)),
      database: files.map((name) => readFileSync(join(server.home, name), 'latin1')).join(),
    };
    expect(provider.requests).toHaveLength(3);
    expect(told.client).toContain('"aggregatedOutput":"… … …\\n"');
    expect(told.client).toContain('Bad key … … …"');
    for (const key of ALL) for (const text of Object.values(told)) expect(text).not.toContain(key);
  },
);
