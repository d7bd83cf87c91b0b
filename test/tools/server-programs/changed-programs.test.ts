import { chmodSync, symlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder, writeFiles } from '../../config/temp-folder.ts';
import { message, response } from '../../support/test-model.ts';
import { ApprovalSession, confinedConfig } from '../approval-session.ts';
import { done, modelOutput, runs, says, THREAD } from '../command-server.ts';
import { attack, endOfHook, SCRIPT, startWorld, stateOf } from './programs-world.ts';

test('a hook that is not started for this reason refuses, so that no command can switch it off', async () => {
  const { work, session } = await startWorld(false);
  const { client, model } = session.server;
  writeFiles(work, { 'lib/check': SCRIPT });
  chmodSync(join(work, 'lib/check'), 0o755);
  symlinkSync('lib/check', join(work, 'check'));
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: './check' }] }] };
  const { thread } = await client.request('thread/start', { config: { hooks } });
  const run = async (cmd: string, callId: string) => {
    model.push(runs(cmd, {}, callId), done);
    const { turn } = await client.request('turn/start', { threadId: thread.id, input: [] });
    await client.waitFor('turn/completed', (params) => params.turn.id === turn.id);
    return modelOutput(session.server, callId);
  };
  expect(await run('rm check; cp /bin/true check; echo one', 'a')).toContain('one');
  expect(await run('echo two', 'b')).toMatch(
    /counts as a refusal: .*work\/check.* is new or has changed/,
  );
});

describe('a program is not started if what it runs has changed while commands could write it', () => {
  test.each([true, false])(
    'because a command was running before the server knew of the program (which ran before: %s)',
    async (runsBefore) => {
      const { work, session } = await startWorld(false);
      const { client, clock } = session.server;
      const script = join(work, 'tools', 'late.sh');
      writeFiles(work, { 'tools/late.sh': SCRIPT });
      const running = session.run(
        'mkfifo p; echo up; read x < p; echo evil > tools/late.sh; echo over; read x < p',
      );
      await says(session.server, 'up');
      await clock.timerOf(10_000);
      clock.advance(10_000);
      await running;
      const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'sh tools/late.sh' }] }] };
      const { thread } = await client.request('thread/start', { config: { hooks } });
      const turn = () => endOfHook(session.server, thread.id);
      // The hook is known as soon as its thread is loaded, also if it does not run before the
      // change.
      if (runsBefore) expect(await turn()).toMatchObject({ status: 'completed', entries: [] });
      else await session.run('true');
      await writeFile(join(work, 'p'), 'go\n');
      await says(session.server, 'over');
      const why = `${script} is new or has changed while commands in the sandbox could write it`;
      expect(await turn()).toMatchObject({
        status: 'failed',
        entries: [{ kind: 'error', text: expect.stringContaining(why) as string }],
      });
      await client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
    },
  );

  test('because the program is a link directly in the workspace, and a command has replaced it', async () => {
    const { work, session } = await startWorld(false);
    const { client } = session.server;
    writeFiles(work, { 'lib/lint': SCRIPT, 'lib/python': SCRIPT, 'pyvenv.cfg': '' });
    chmodSync(join(work, 'lib/lint'), 0o755);
    symlinkSync('lib/lint', join(work, 'lint'));
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: './lint; lib/python' }] }] };
    const { thread } = await client.request('thread/start', { config: { hooks } });
    await session.run(`${attack(join(work, 'lib/lint'))}; rm lint; cp /bin/true lint; touch free`);
    expect(stateOf(join(work, 'lib/lint'))).toBe(SCRIPT);
    expect(stateOf(join(work, 'free'))).toBe('');
    // A workspace that is a virtual environment itself stays writable.
    expect(
      (await session.patch('*** Begin Patch\n*** Add File: also-free\n+x\n*** End Patch')).output,
    ).toContain('Success');
    expect(await endOfHook(session.server, thread.id)).toMatchObject({
      status: 'failed',
      entries: [
        {
          kind: 'error',
          text: expect.stringContaining(`${join(work, 'lint')} is new or has changed`) as string,
        },
      ],
    });
  });

  test('such as a package that a command has installed where an MCP server would find it first', async () => {
    const { folder, work, session } = await startWorld(false);
    const { client } = session.server;
    writeFiles(folder, { 'outside/npx': `#!/bin/sh\ntouch ${folder}/started\n` });
    chmodSync(join(folder, 'outside/npx'), 0o755);
    const config = (name: string) => ({
      mcp_servers: {
        [name]: { command: join(folder, 'outside/npx'), args: ['-y', '@example/docs@latest'] },
      },
    });
    const failure = async (name: string) => {
      await client.request('thread/start', { config: config(name) });
      const failed = await client.waitFor(
        'mcpServer/startupStatus/updated',
        (params) => params.name === name && params.status === 'failed',
      );
      return failed.error ?? '';
    };
    await failure('before');
    expect(stateOf(join(folder, 'started'))).toBe('');
    await session.run(
      'rm -f started; mkdir -p node_modules/@example/docs; touch node_modules/@example/docs/package.json',
    );
    expect(await failure('after')).toContain(
      `${join(work, 'node_modules/@example/docs')} is new or has changed`,
    );
  });

  test('but not because of the files that a message names', async () => {
    const { folder, work, session } = await startWorld(false);
    const { client, model } = session.server;
    const told = join(folder, 'told.txt');
    const program = join(folder, 'outside/notify');
    writeFiles(folder, {
      'work/answer.sh': 'one',
      'told.txt': '',
      'outside/notify': `#!/bin/sh\necho told >> ${told}\n`,
    });
    chmodSync(program, 0o755);
    const { thread } = await client.request('thread/start', { config: { notify: [program] } });
    const answers = async () => {
      model.push(response(message(`See ${work}/answer.sh and answer.sh`)));
      expect(await client.turn(thread.id, 'Edit answer.sh')).toMatchObject({ status: 'completed' });
    };
    const running = session.run(
      'mkfifo p; echo up; read x < p; echo two > answer.sh; echo over; read x < p',
    );
    await says(session.server, 'up');
    await session.server.clock.timerOf(10_000);
    session.server.clock.advance(10_000);
    await running;
    await answers();
    await writeFile(join(work, 'p'), 'go\n');
    await says(session.server, 'over');
    await answers();
    await session.server.close();
    expect(client.notifications('warning')).toEqual([]);
    expect(stateOf(told)).toBe('told\ntold\n');
  });

  test('unless the user has left its folder out', async () => {
    const folder = tempFolder({ 'work/tools/free.sh': SCRIPT });
    const unprotected = `unprotected_folders = ["${join(folder, 'work/tools')}"]\n`;
    const session = await ApprovalSession.start({
      folder,
      config: `${confinedConfig('never')}${unprotected}`,
    });
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'sh tools/free.sh' }] }] };
    await session.server.client.request('thread/start', { config: { hooks } });
    await session.run('echo changed > tools/free.sh');
    expect(stateOf(join(folder, 'work/tools/free.sh'))).toBe('changed\n');
  });
});
