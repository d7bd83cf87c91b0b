import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  commandCall,
  functionCall,
  message,
  response,
  type ScriptedResponse,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';
import { modelOutputs, THREAD } from '../tools/command-server.ts';

const CONFIG = `model = "test-model"
model_provider = "test"
approval_policy = "never"
default_permissions = "p"
[model_providers.test]
base_url = "http://127.0.0.1:9"
[permissions.p.filesystem]
":root" = "read"
[permissions.p.filesystem.":workspace_roots"]
"." = "write"
"**/*.env" = "deny"
"keys" = "none"
`;
const FILES = {
  'work/a.env': 'KEY=a',
  'work/sub/b.env': 'KEY=b',
  'work/keys/k': 'KEY=k',
  'work/plain.txt': 'plain',
};
const READ = 'cat plain.txt a.env sub/b.env keys/k 2>/dev/null; true';
const done = response(message('done'));
async function serverWith(
  responses: ScriptedResponse[],
  options: TestServerOptions = {},
): Promise<TestServer> {
  const server = await startServer({
    config: CONFIG,
    files: FILES,
    model: new TestModel(...responses),
    ...options,
  });
  await server.client.request('thread/start', {});
  return server;
}

test('a thread with patterns starts; commands, images, patches and skills do not get at what matches, and the model is told', async () => {
  const picture = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const server = await serverWith([
    response(commandCall(READ, 'c1')),
    response(functionCall('view_image', { path: 'pics/p.env' }, { callId: 'c2' })),
    response(functionCall('view_image', { path: 'pics/target.png' }, { callId: 'c3' })),
    response(
      functionCall(
        'apply_patch',
        { input: '*** Begin Patch\n*** Update File: a.env\n@@\n-KEY=a\n+KEY=x\n*** End Patch' },
        { callId: 'c4' },
      ),
    ),
    response(
      functionCall(
        'apply_patch',
        { input: '*** Begin Patch\n*** Add File: new.env\n+KEY=x\n*** End Patch' },
        { callId: 'c5' },
      ),
    ),
    response(
      functionCall(
        'apply_patch',
        { input: '*** Begin Patch\n*** Delete File: keys/k\n*** End Patch' },
        { callId: 'c6' },
      ),
    ),
    response(
      commandCall(
        'git diff --no-index /dev/null a.env | grep -c KEY; cp a.env b.txt; echo mine > own.env && cat own.env',
        'c7',
      ),
    ),
    done,
  ]);
  mkdirSync(join(server.cwd, 'pics'));
  writeFileSync(join(server.cwd, 'pics/target.png'), picture);
  symlinkSync('target.png', join(server.cwd, 'pics/p.env'));
  await server.client.turn(THREAD, 'go');
  const [read, link, target, update, add, remove, git] = modelOutputs(server);
  expect(read).toBe('plain');
  for (const image of [link, target]) expect(image).toMatch(/unable to show .*may not be read/);
  expect(update).toMatch(/the sandbox does not allow .*a\.env to be read/);
  expect(add).toMatch(/new\.env is protected by the sandbox/);
  expect(remove).toMatch(
    /the sandbox does not allow .*keys\/k to be read|keys\/k is protected by the sandbox/,
  );
  expect(git).toMatch(/^0$.*cannot open 'a\.env' for reading.*^mine$/ms);
  expect(JSON.stringify(server.model.request(1).input)).toContain(
    'are hidden from commands in the sandbox and from your tools',
  );
});

test('a skill that a pattern hides is not read, neither its description nor, if the user names it, its body', async () => {
  const config = CONFIG.replace('"keys" = "none"', '".agents/skills/secret" = "deny"');
  const skill = (name: string) =>
    `---\nname: ${name}\ndescription: The use of ${name}\n---\nThe body of ${name}\n`;
  const server = await serverWith([done], {
    config,
    files: {
      ...FILES,
      'work/.agents/skills/secret/SKILL.md': skill('secret'),
      'work/.agents/skills/open/SKILL.md': skill('open'),
    },
  });
  await server.client.turn(THREAD, '$secret $open');
  const read = JSON.stringify(server.model.request(1).input);
  for (const part of ['use', 'body']) {
    expect(read).toContain(`The ${part} of open`);
    expect(read).not.toContain(`The ${part} of secret`);
  }
});

test('the patterns hold in a fork, after a restart, in a review and for command/exec, until a client chooses another sandbox', async () => {
  const server = await serverWith([done]);
  await server.client.turn(THREAD, 'hi');
  const { thread } = await server.client.request('thread/fork', { threadId: THREAD });
  server.model.push(response(commandCall(READ)), done);
  await server.client.turn(thread.id, 'go');
  expect(modelOutputs(server)).toEqual(['plain']);
  const exec = await server.client.request('command/exec', { command: ['sh', '-c', READ] });
  expect(exec).toEqual({ exitCode: 0, stdout: 'plain', stderr: '' });
  const inSub = {
    command: ['sh', '-c', 'cat ../a.env b.env ../plain.txt 2>/dev/null; true'],
    cwd: join(server.cwd, 'sub'),
  };
  expect(await server.client.request('command/exec', inSub)).toEqual(exec);
  const next = await server.restart();
  await next.client.request('thread/resume', { threadId: THREAD });
  next.model.push(response(commandCall(READ)), done);
  await next.client.turn(THREAD, 'go');
  expect(modelOutputs(next)).toEqual(['plain']);
  next.model.push(response(commandCall(READ, 'r1')), done);
  const review = await next.client.request('review/start', {
    threadId: THREAD,
    target: { type: 'custom', instructions: 'look' },
  });
  await next.client.waitFor('turn/completed', ({ turn }) => turn.id === review.turn.id);
  expect(modelOutputs(next)).toEqual(['plain']);
  next.model.push(response(commandCall(READ, 'c9')), done);
  await next.client.turn(THREAD, 'go', { sandboxPolicy: { type: 'readOnly' } });
  expect(modelOutputs(next).at(-1)).toBe('plainKEY=aKEY=bKEY=k');
});

test('an agent does not see what is hidden from the thread that it works for, nor what its role hides', async () => {
  const ofRole =
    '[permissions.q.filesystem]\n":root" = "read"\n[permissions.q.filesystem.":workspace_roots"]\n"." = "write"\n"plain*" = "deny"\n';
  const config = `${CONFIG}[agents.r]\ndescription = "x"\ndefault_permissions = "q"\n${ofRole}`;
  const server = await serverWith(
    [
      response(
        functionCall('spawn_agent', { message: 'child', agent_type: 'r' }, { callId: 's1' }),
      ),
      (request) =>
        JSON.stringify(request.input).includes('"s1"')
          ? done
          : response(commandCall(`cat other.txt; ${READ}`, 'of-agent')),
      (request) =>
        JSON.stringify(request.input).includes('"s1"')
          ? done
          : response(commandCall(`cat other.txt; ${READ}`, 'of-agent')),
    ],
    { config, files: { ...FILES, 'work/other.txt': 'other' } },
  );
  server.model.push(done, done, done);
  const ended = server.client.waitFor(
    'item/completed',
    ({ item }) => item.type === 'commandExecution',
  );
  await server.client.turn(THREAD, 'go');
  const { item } = await ended;
  expect(item).toMatchObject({ aggregatedOutput: 'other' });
});

test('a command whose hidden files cannot be found is refused with the reason', async () => {
  const server = await serverWith([
    response(commandCall('true')),
    response(functionCall('view_image', { path: 'p.png' }, { callId: 'c2' })),
    done,
  ]);
  writeFileSync(
    Buffer.concat([Buffer.from(`${server.cwd}/`), Buffer.from([0xff]), Buffer.from('.env')]),
    '',
  );
  writeFileSync(join(server.cwd, 'p.png'), '');
  await server.client.turn(THREAD, 'go');
  for (const output of modelOutputs(server))
    expect(output).toMatch(
      /the pattern :workspace_roots\/\*\*\/\*\.env may hide files here.*Rename it/,
    );
});

test('the patterns for the workspace hold in the folders that the profile adds to it', async () => {
  const first = await startServer({
    config: CONFIG,
    files: { ...FILES, 'other/o.env': 'KEY=o', 'other/in/keys': 'x', 'other/keys': 'KEY=k' },
  });
  const other = join(first.folder, 'other');
  const config = `${CONFIG}[permissions.p.workspace_roots]\n"${other}" = true\n`;
  const model = new TestModel(
    response(
      commandCall(
        `cd ${other} && echo new > plain && cat in/keys plain o.env keys 2>/dev/null; true`,
      ),
    ),
    done,
  );
  const server = await first.restart({ config, model });
  await server.client.request('thread/start', {});
  await server.client.turn(THREAD, 'go');
  expect(modelOutputs(server)).toEqual(['xnew\n']);
});

test('the folder of the user is no pattern, whatever its name is', async () => {
  const files = {
    'us[e]r{a,b}/.ssh/id': 'KEY=ssh',
    'us[e]r{a,b}/x/a.pem': 'KEY=pem',
    'us[e]r{a,b}/x/b': 'b',
    'us[e]r{a,b}/w/c': 'c',
  };
  const first = await startServer({ config: CONFIG, files });
  const HOME = join(first.folder, 'us[e]r{a,b}');
  const keys = '"~/.ssh" = "deny"\n"~/**/*.pem" = "deny"\n"~/w/**" = "write"\n';
  const config = CONFIG.replace('":root" = "read"\n', `":root" = "read"\n${keys}`);
  const model = new TestModel(
    response(
      commandCall(
        `cd '${HOME}/w' && echo new > d && cat d ../x/b ../.ssh/id ../x/a.pem 2>/dev/null; true`,
      ),
    ),
    done,
  );
  const server = await first.restart({ config, model, env: { PATH: process.env.PATH, HOME } });
  await server.client.request('thread/start', {});
  await server.client.turn(THREAD, 'go');
  expect(modelOutputs(server)).toEqual(['new\nb']);
});

test('a link to a hidden file that a command leaves as AGENTS.md is not read for the next thread, and neither is a hidden AGENTS.md', async () => {
  const config = CONFIG.replace('"keys" = "none"', '"plans/*.md" = "none"');
  const files = {
    ...FILES,
    'work/.git/HEAD': 'ref: refs/heads/main',
    'work/plans/AGENTS.md': 'The plan',
    'work/NOTES.md': 'A note',
  };
  const model = new TestModel(response(commandCall('ln -s sub/b.env AGENTS.md')), done, done, done);
  const server = await startServer({
    config: `project_doc_fallback_filenames = ["NOTES.md"]\n${config}`,
    files,
    model,
  });
  const sources = async (params: object) =>
    (await server.client.request('thread/start', params)).instructionSources;
  expect(await sources({})).toEqual([join(server.cwd, 'NOTES.md')]);
  await server.client.turn(THREAD, 'go');
  expect(await sources({})).toEqual([join(server.cwd, 'NOTES.md')]);
  const plans = join(server.cwd, 'plans');
  expect(await sources({ cwd: plans, runtimeWorkspaceRoots: [server.cwd] })).toEqual([
    join(server.cwd, 'NOTES.md'),
  ]);
  const all = [join(server.cwd, 'AGENTS.md'), join(plans, 'AGENTS.md')];
  expect(await sources({ cwd: plans, sandbox: 'read-only' })).toEqual(all);
  // A turn in another sandbox reads them again.
  await server.client.turn(THREAD, 'go', { sandboxPolicy: { type: 'readOnly' } });
  expect(JSON.stringify(server.model.request(server.model.requests.length).input)).toContain(
    'KEY=b',
  );
});
