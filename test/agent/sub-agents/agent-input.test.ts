import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conversation, functionCall, message, response } from '../../support/test-model.ts';
import { agentOf, outputs } from './agents-model.ts';
import { collabs, done, spawn, ROOT as threadId, wait, withAgents } from './agents-server.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
  'base64',
);
const IMAGE_URL = `data:image/png;base64,${PNG.toString('base64')}`;

test('an agent gets its task in parts: texts, images, files, skills and mentions', async () => {
  const server = await withAgents({ root: [], child: [response(message('seen'))] });
  const skill = join(server.cwd, '.agents/skills/lint/SKILL.md');
  mkdirSync(join(skill, '..'), { recursive: true });
  writeFileSync(skill, '---\nname: lint\ndescription: Lints.\n---\nRun the linter twice.');
  writeFileSync(join(server.cwd, 'p.png'), PNG);
  const items = [
    { type: 'text', text: 'child: look at $app' },
    { type: 'image', image_url: IMAGE_URL },
    { type: 'local_image', path: 'p.png' },
    { type: 'skill', name: 'lint', path: '.agents/skills/lint/SKILL.md' },
    { type: 'mention', name: 'app', path: 'app://calendar' },
  ];
  server.agents.push('root', spawn({ items }), (request) => wait(request), done);
  await server.client.turn(threadId, 'root: go');
  const [request] = server.agents.of('child');
  const image = { type: 'input_image', image_url: IMAGE_URL };
  expect(request && conversation(request)[0]).toMatchObject({
    role: 'user',
    content: [{ type: 'input_text', text: 'child: look at $app' }, image, image],
  });
  expect(JSON.stringify(request?.input)).toContain('Run the linter twice.');
  const path = join(server.cwd, 'p.png');
  expect(collabs(server)[0]?.prompt).toBe(
    `child: look at $app\n[image]\n[local_image:${path}]\n[skill:$lint](${skill})\n[mention:$app](app://calendar)`,
  );
  const shown = server.client
    .notifications('item/completed', ({ item }) => item.type === 'userMessage')
    .at(-1)?.item;
  expect(shown).toMatchObject({
    content: [
      { type: 'text', text: 'child: look at $app' },
      { type: 'image', url: IMAGE_URL },
      { type: 'localImage', path },
      { type: 'skill', name: 'lint', path: skill },
      { type: 'mention', name: 'app', path: 'app://calendar' },
    ],
  });
});

test('send_input takes the same parts', async () => {
  const server = await withAgents({
    root: [
      spawn({ message: 'child: one' }),
      (request) => wait(request),
      (request) =>
        response(
          functionCall('send_input', {
            target: agentOf(request, 'spawn'),
            items: [{ type: 'text', text: 'two' }],
          }),
        ),
      (request) => wait(request),
      done,
    ],
    child: [response(message('1')), response(message('2'))],
  });
  await server.client.turn(threadId, 'root: go');
  expect(JSON.stringify(server.agents.of('child')[1]?.input)).toContain('"two"');
});

test('files that the commands of an agent cannot read are not shown to it either', async () => {
  const server = await withAgents({ root: [], child: [response(message('seen'))] });
  const key = join(server.home, 'p.png');
  writeFileSync(key, PNG);
  mkdirSync(join(server.home, 'other'));
  writeFileSync(join(server.home, 'other/SKILL.md'), 'secret words');
  const items = [
    { type: 'text', text: 'child: look' },
    { type: 'local_image', path: key },
    { type: 'skill', name: 'x', path: join(server.home, 'other/SKILL.md') },
  ];
  server.agents.push('root', spawn({ items }), (request) => wait(request), done);
  await server.client.request('thread/settings/update', {
    threadId,
    sandboxPolicy: { type: 'readOnly' },
  });
  await server.client.turn(threadId, 'root: go');
  const read = JSON.stringify(server.agents.of('child')[0]?.input);
  expect(read).toMatch(/The image [^ ]*p\.png\S* could not be read/);
  expect(read).not.toContain('secret words');
  expect(read).not.toContain('data:image');
});

test.each<[object, RegExp]>([
  [{}, /^spawn_agent: `message` is missing/],
  [{ message: ' ' }, /`message` must be a non-empty string/],
  [{ message: 'child: x', items: [{ type: 'text', text: 'y' }] }, /either `message` or `items`/],
  [{ items: [] }, /`items` must be a list of 1 to 64 objects/],
  [{ items: ['x'] }, /`items` must be a list of 1 to 64 objects/],
  [{ items: [{ type: 'video' }] }, /each of `items` needs a `type`: text, image/],
  [{ items: [{ type: 'text' }] }, /`text` is missing/],
  [
    { items: [{ type: 'image', image_url: 'https://example.com/?secret' }] },
    /`image_url` must be a data URL/,
  ],
  [
    { items: [{ type: 'audio', audio_url: 'data:text/plain,x' }] },
    /`audio_url` must be a data URL/,
  ],
  [{ items: [{ type: 'mention', name: 'a', path: 'app://a' }] }, /`items` must say what to do/],
  [{ message: 'x'.repeat(1_048_577) }, /at most 1048576 characters/],
  [
    { message: 'child: x', reasoning_effort: 'extreme' },
    /`reasoning_effort` must be one of none, minimal, low, .*, ultra\.$/,
  ],
])('%j is refused by name', async (args, problem) => {
  const server = await withAgents({ root: [spawn(args), done] });
  await server.client.turn(threadId, 'root: go');
  const last = server.agents.of('root')[1];
  expect(last && outputs(last)).toEqual({ spawn: expect.stringMatching(problem) });
  expect(collabs(server)).toEqual([]);
});

test('an effort that the user has chosen for the thread is known, whatever its name, but not shown in items, whose clients may not know it', async () => {
  const server = await withAgents({
    root: [spawn({ message: 'child: x', reasoning_effort: 'turbo' }), done],
  });
  await server.client.turn(threadId, 'root: go', { effort: 'turbo' });
  expect(collabs(server)).toMatchObject([{ status: 'completed', reasoningEffort: null }]);
  const agent = collabs(server)[0]?.receiverThreadIds[0] ?? '';
  expect((await server.client.request('thread/read', { threadId: agent })).thread).toMatchObject({
    reasoningEffort: 'turbo',
  });
});
