import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json-value.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { blocksOf } from '../../docs/pages.ts';
import { message, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { completed, done, FREE_CONFIG, runs } from '../../tools/command-server.ts';
import { ended, kept, modelInput, THREAD } from './hook-server.ts';

/** The example is the first thing on the page. */
const blocks = blocksOf('docs/hooks.md');
const example = blocks.slice(0, 4);
const [hooks = '', script = '', input = '', session = ''] = example.map(({ text }) => text);
const REFUSED = 'rm data/production.db';

test('the example of docs/hooks.md refuses the command, lets others run, and gets the input on the page', async () => {
  // So changed, the script also keeps its input.
  const keeping = script.replace(
    'case $(cat) in',
    'input=$(cat); printf %s "$input" >> ../input; case $input in',
  );
  const model = new TestModel(runs(REFUSED), runs('cat data/*.db', {}, 'call_2'), done);
  const folder = tempFolder();
  const server = await startServer({
    config: FREE_CONFIG,
    model,
    folder,
    files: {
      'home/hooks.json': hooks.replaceAll('~/.heddle', `${folder}/home`),
      'home/guard-data.sh': keeping,
      'work/data/production.db': 'customers',
    },
  });
  await server.client.request('thread/start', {});
  await server.client.turn(THREAD, 'go');
  const reason = /echo "(.*)" >&2/.exec(script)?.[1] ?? '';
  expect(modelInput(server, 2).at(-1)).toContain(reason);
  expect(ended(server).map(({ status }) => status)).toEqual(['blocked', 'completed']);
  expect(completed(server)).toMatchObject([{ aggregatedOutput: 'customers' }]);
  const documented = JSON.parse(input) as JsonObject;
  const [got] = kept(server, 'input');
  const { session_id, turn_id, cwd, model: name, permission_mode } = got ?? {};
  expect(got).toEqual({
    ...documented,
    session_id,
    turn_id,
    cwd,
    model: name,
    permission_mode,
  } as JsonObject);
});

test('the session on the page is what the script does', () => {
  expect(example.map(({ language }) => language)).toEqual(['json', 'sh', 'json', 'console']);
  const [line = '', ...output] = session.split('\n');
  const command = line.replace(/^\$ /, '').replace('~/.heddle/guard-data.sh', 'guard-data.sh');
  const folder = tempFolder({ 'guard-data.sh': script });
  const { stdout } = spawnSync('sh', ['-c', `exec 2>&1; ${command}`], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(stdout).toBe(output.join('\n'));
});

test('the hooks in Python and Node change the command, and let the turn go on until the agent mentions the tests', async () => {
  const [both, python, node] = blocks.slice(4, 7);
  expect([both, python, node].map((block) => block?.language)).toEqual(['json', 'python', 'js']);
  // npm would take long.
  const changing =
    python?.text.replace('"npm install"', '"echo install"').replace('"npm ci"', '"echo ci"') ?? '';
  const model = new TestModel(
    runs('echo install'),
    runs('echo other', {}, 'call_2'),
    response(message('All done.')),
    response(message('All tests pass.')),
  );
  const folder = tempFolder();
  const server = await startServer({
    config: FREE_CONFIG,
    model,
    folder,
    files: {
      'home/hooks.json': both?.text.replaceAll('~/.heddle', `${folder}/home`) ?? '',
      'home/npm_ci.py': changing,
      'home/say-tests.mjs': node?.text ?? '',
    },
  });
  await server.client.request('thread/start', {});
  expect((await server.client.turn(THREAD, 'go')).status).toBe('completed');
  expect(completed(server).map(({ aggregatedOutput }) => aggregatedOutput)).toEqual([
    'ci\n',
    'other\n',
  ]);
  expect(ended(server).map(({ eventName, status }) => [eventName, status])).toEqual([
    ['preToolUse', 'completed'],
    ['preToolUse', 'completed'],
    ['stop', 'blocked'],
    ['stop', 'completed'],
  ]);
  expect(modelInput(server, 4).at(-1)).toContain('Run the tests, and say how they ended.');
});
