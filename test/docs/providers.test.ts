import { expect, test } from 'vitest';
import {
  azureDeployment,
  type FakeAnswer,
  liteLlm,
  llamaCpp,
  openRouter,
  vllm,
} from '../model/fake-chat-servers.ts';
import { lmStudio } from '../model/fake-lmstudio.ts';
import { ollama } from '../model/fake-ollama.ts';
import { azure, openAi } from '../model/fake-responses-servers.ts';
import { ProviderServer, type Reply } from '../model/provider-server.ts';
import { startServer } from '../support/test-server.ts';
import { section, textOf } from './pages.ts';

const PLAN = { plan: [{ step: 'look', status: 'completed' }] };
const ANSWERS: FakeAnswer[] = [
  { thinking: 'hm', text: 'I look.', call: { name: 'update_plan', args: PLAN } },
  { thinking: 'well', text: 'It is done.' },
  { text: 'Hello again.' },
];

/** The configurations on the page, by the heading of their provider. */
function configsOf(heading: string): string[] {
  return [...section('docs/providers.md', heading).matchAll(/^```toml\n(.*?)^```$/gms)].map(
    ([, text = '']) => text,
  );
}

const HEADINGS = [...textOf('docs/providers.md').matchAll(/^## (.*)$/gm)].map(
  ([, heading = '']) => heading,
);

/** A server with a configuration of the page, whose provider is the stand-in. */
async function startWith(
  config: string,
  provider: ProviderServer,
  env: Record<string, string> = {},
) {
  const origin = `http://127.0.0.1:${provider.port}`;
  // The built-in providers have no address on the page.
  const builtIn = { OPENAI_BASE_URL: `${origin}/v1`, OLLAMA_HOST: origin };
  const overrides = config.includes('"lmstudio"')
    ? [`model_providers.lmstudio.base_url="${origin}/v1"`]
    : [];
  const text = config.replace(/(?<=^base_url = ")https?:\/\/[^/"]+/gm, origin);
  return startServer({
    config: `show_raw_agent_reasoning = true\n${text}`,
    model: null,
    env: { ...builtIn, ...env },
    overrides,
  });
}

const VARIABLES = ['OPENAI', 'AZURE_OPENAI', 'OPENROUTER', 'VLLM', 'LITELLM'].map(
  (name) => `${name}_API_KEY`,
);
const KEYS = Object.fromEntries(VARIABLES.map((name) => [name, 'key-1']));

interface Case {
  heading: string;
  /** Which configuration below the heading. */
  config?: number;
  provider: Reply;
  models: string[];
  /** How many requests the stand-in refuses, each for a reason that heddle knows a way around. */
  refusals?: number;
  /** False: its API has no reasoning. */
  reasons?: boolean;
  usage?: { inputTokens: number };
  /** The message to the user, after the provider and the status. */
  warnings?: string[];
}

const ollamaAnswers = ANSWERS.map(({ thinking, text = '', call }) => ({
  ...(thinking === undefined ? {} : { thinking: [thinking] }),
  text: [text],
  ...(call === undefined ? {} : { calls: [call] }),
}));
const lmStudioAnswers = ANSWERS.map(({ thinking, text = '', call }) => ({
  ...(thinking === undefined ? {} : { reasoning: [thinking] }),
  text: [text],
  ...(call === undefined
    ? {}
    : { calls: [{ name: call.name, args: [JSON.stringify(call.args)] }] }),
}));

const CONFLICT =
  'Conflicting authenticated continuation identities. The request is sent without input.reasoning. The model does not get back what it has thought before.';

const CASES: Case[] = [
  { heading: 'OpenAI', provider: openAi(ANSWERS), models: ['gpt-5.5'] },
  { heading: 'Azure', provider: azure(ANSWERS), models: ['my-deployment', 'gpt-5.5'], refusals: 2 },
  {
    heading: 'Azure',
    provider: azure(ANSWERS, { takes: 'one' }),
    models: ['my-deployment', 'gpt-5.5'],
    refusals: 2,
    warnings: [CONFLICT],
  },
  {
    heading: 'Azure',
    config: 1,
    provider: azureDeployment(ANSWERS),
    models: ['my-deployment'],
    reasons: false,
  },
  { heading: 'OpenRouter', provider: openRouter(ANSWERS), models: ['qwen/qwen3-coder'] },
  { heading: 'vLLM', provider: vllm(ANSWERS), models: ['Qwen/Qwen3-32B'] },
  { heading: 'LiteLLM', provider: liteLlm(ANSWERS), models: ['claude'], refusals: 1 },
  {
    heading: 'LiteLLM',
    provider: liteLlm(ANSWERS, { wantsThoughts: true }),
    models: ['claude'],
    refusals: 2,
  },
  {
    heading: 'llama.cpp',
    provider: llamaCpp(ANSWERS),
    models: ['qwen3-8b', 'qwen3-8b-q4_k_m.gguf'],
  },
  {
    heading: 'Ollama',
    provider: ollama({ answers: ollamaAnswers }),
    models: ['llama3.2'],
    usage: { inputTokens: 26 },
  },
  {
    heading: 'LM Studio',
    provider: lmStudio({ answers: lmStudioAnswers }),
    models: ['qwen3-8b'],
    usage: { inputTokens: 18 },
  },
];

test('the page has these providers, and each of its configurations is run', () => {
  const named = CASES.map(({ heading, config = 0 }) => `${heading} ${config}`);
  const onPage = HEADINGS.flatMap((heading) =>
    configsOf(heading).map((_, index) => `${heading} ${index}`),
  );
  expect([...new Set(named)]).toEqual(onPage);
});

test.each(CASES)('$heading: two turns with a call, as the page says', async (example) => {
  const {
    heading,
    config = 0,
    models,
    refusals = 0,
    reasons = true,
    usage = { inputTokens: 30 },
    warnings = [],
  } = example;
  await using provider = await ProviderServer.start(example.provider);
  const { client } = await startWith(configsOf(heading)[config] ?? '', provider, KEYS);
  const { data } = await client.request('model/list', {});
  expect(data.map(({ id }) => id)).toEqual(models);
  const { thread } = await client.request('thread/start', {});
  for (const input of ['hi', 'and again'])
    expect(await client.turn(thread.id, input)).toMatchObject({ status: 'completed', error: null });
  const items = client.notifications('item/completed').map(({ item }) => item);
  const reasoned = items.flatMap((item) =>
    item.type === 'reasoning' ? [...(item.summary ?? []), ...(item.content ?? [])] : [],
  );
  expect(reasoned.join(' ')).toBe(reasons ? 'hm well' : '');
  expect(items.flatMap((item) => (item.type === 'agentMessage' ? [item.text] : []))).toEqual(
    ANSWERS.map(({ text }) => text),
  );
  expect(client.notifications('turn/plan/updated').map(({ plan }) => plan)).toEqual([PLAN.plan]);
  expect(client.notifications('thread/tokenUsage/updated').at(-1)?.tokenUsage.last).toMatchObject(
    usage,
  );
  expect([client.notifications('error'), client.notifications('configWarning')]).toEqual([[], []]);
  expect(
    client.notifications('warning').map(({ message }) => message.replace(/^.*HTTP \d+\. /, '')),
  ).toEqual(warnings);
  const asked = provider.requests.filter(({ body }) => body !== null);
  expect(asked).toHaveLength(ANSWERS.length + refusals);
  expect(
    asked.filter(({ body }) => Object.keys(body as object).some((name) => name.startsWith('max_'))),
  ).toEqual([]);
});

/** The messages to a user whose provider is not set up as the page says. */
interface Stumble {
  name: string;
  heading: string;
  config?: number;
  provider: Reply;
  env?: Record<string, string>;
  text: string;
  /** How many requests are sent. */
  requests: number;
}

const DENIED = 'Access denied due to invalid subscription key or wrong API endpoint.';
const STUMBLES: Stumble[] = [
  {
    name: 'no key',
    heading: 'OpenRouter',
    provider: openRouter([]),
    text: 'The key of model provider "OpenRouter" is missing: set the environment variable OPENROUTER_API_KEY.',
    requests: 0,
  },
  {
    name: 'no key in a header of its own',
    heading: 'Azure',
    config: 1,
    provider: azureDeployment([]),
    text: `${DENIED} No key was sent: the environment variable AZURE_OPENAI_API_KEY, which env_http_headers names, is not set.`,
    requests: 1,
  },
  {
    name: 'a wrong key in a header of its own',
    heading: 'Azure',
    config: 1,
    provider: azureDeployment([]),
    env: { AZURE_OPENAI_API_KEY: 'key-2' },
    text: `${DENIED} Check the key in http_headers or env_http_headers of the provider.`,
    requests: 1,
  },
  {
    name: 'vLLM that was started without its parser of calls',
    heading: 'vLLM',
    provider: vllm([], { parsesTools: false }),
    env: KEYS,
    text: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set. Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model: every turn offers tools.',
    requests: 2,
  },
  {
    name: 'llama-server that was started without templates',
    heading: 'llama.cpp',
    provider: llamaCpp([], { jinja: false }),
    text: 'tools param requires --jinja flag. Start llama-server with --jinja: every turn offers tools.',
    requests: 1,
  },
];

test.each(STUMBLES)(
  '$name: the error has the remedy',
  async ({ heading, config = 0, provider: reply, env = {}, text, requests }) => {
    await using provider = await ProviderServer.start(reply);
    const { client } = await startWith(configsOf(heading)[config] ?? '', provider, env);
    const { thread } = await client.request('thread/start', {});
    const { status, error } = await client.turn(thread.id, 'hi');
    const told = error?.message.replace(/^.* answered HTTP \d+\. /, '');
    expect({ status, told }).toEqual({ status: 'failed', told: text });
    expect(provider.requests.filter(({ body }) => body !== null)).toHaveLength(requests);
  },
);
