import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isWithin } from '../../src/base/paths/is-within.ts';
import type { CommandExecutionRequestApprovalParams } from '../../src/protocol/generated/types.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { becomesLink, flipping, stopFlipping } from '../sandbox/flipping.ts';
import { differences, recordCanaries } from '../support/canaries.ts';
import type { ScriptedResponse } from '../support/test-model.ts';
import type { TestServer } from '../support/test-server.ts';
import { commandServer, done, FREE_CONFIG, runs, THREAD } from './command-server.ts';

const TURNS = 40;
const YIELD_MS = 250;
const timeout = 60_000;

/** Commands run in the sandbox, and may write the workspace only. With approval they leave it. */
const CONFIG = FREE_CONFIG.replace('"danger-full-access"', '"workspace-write"')
  .replace('"never"', '"on-request"')
  .concat('[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n');

/** Removes and adds files in its working directory. */
const CHANGING = 'rm -rf inner; touch made; echo evil > file';

function escalated(callId: string): ScriptedResponse {
  return runs(
    CHANGING,
    { workdir: 'sub', sandbox_permissions: 'require_escalated', justification: 'May it?' },
    callId,
  );
}

/**
 * A server whose workspace has the folder `sub` and a link to a folder outside, which a second
 * thread exchanges in the background.
 */
async function exchangingServer(
  outside: string,
  responses: ScriptedResponse[],
): Promise<TestServer> {
  const background = runs(flipping({ one: 'sub', other: 'link', pauseSecondsMax: 0.01 }), {
    yield_time_ms: YIELD_MS,
  });
  const server = await commandServer([background, done, ...responses], { config: CONFIG });
  const { client, clock, cwd } = server;
  mkdirSync(join(cwd, 'sub', 'inner'), { recursive: true });
  symlinkSync(outside, join(cwd, 'link'));
  const { thread } = await client.request('thread/start', {});
  const turn = client.turn(thread.id, 'go');
  await becomesLink(join(cwd, 'sub'));
  await clock.timerOf(YIELD_MS);
  clock.advance(YIELD_MS);
  await turn;
  return server;
}

/**
 * Answers questions until the returned function is called and one more message comes. Declines
 * those that show the folder outside.
 */
function answerAll(
  { client }: TestServer,
  outside: string,
  decision: 'accept' | 'acceptForSession',
): () => void {
  let over = false;
  void client.next('the last message', ({ method, id, params }) => {
    if (method === 'item/commandExecution/requestApproval') {
      const { cwd } = params as CommandExecutionRequestApprovalParams;
      const isShown = cwd !== null && cwd !== undefined && isWithin(cwd, outside);
      client.send(JSON.stringify({ id, result: { decision: isShown ? 'decline' : decision } }));
    }
    return over;
  });
  return () => {
    over = true;
  };
}

describe.each(['accept', 'acceptForSession'] as const)(
  'while another thread exchanges the working directory for a link, %s',
  (decision) => {
    test('lets a command change nothing in the folder that the link leads to', {
      timeout,
    }, async () => {
      const outside = tempFolder({ file: 'canary\n', 'inner/file': 'canary\n' });
      const record = () => recordCanaries([outside], { times: true });
      const before = record();
      const turns = Array.from({ length: TURNS }, (_, index) => [
        escalated(`escalated_${index}`),
        done,
      ]).flat();
      const server = await exchangingServer(outside, turns);
      const endAnswers = answerAll(server, outside, decision);
      for (let turn = 0; turn < TURNS; turn++) await server.client.turn(THREAD, 'go');
      endAnswers();
      stopFlipping(server.cwd);
      await server.client.waitFor(
        'item/completed',
        ({ item }) => item.type === 'commandExecution' && item.id === 'call_1',
      );
      expect(differences(before, record())).toEqual([]);
    });
  },
);
