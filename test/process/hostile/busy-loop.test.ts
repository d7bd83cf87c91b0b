import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ProviderServer } from '../../model/provider-server.ts';
import { providerToml } from '../support.ts';
import { type BusyServer, LOADS } from './busy-loads.ts';
import { HostileServer } from './hostile-server.ts';
import { WORKED_MS_MAX } from './run-workspace.ts';
import { streamOf } from './stream-of.ts';

const MEASURED_TIMES_MAX = 5;

/** A server whose provider says what a load wants it to say, after a turn that loads what is loaded at first use. */
async function busyServer(): Promise<BusyServer> {
  const said: object[][] = [];
  const provider = await ProviderServer.start((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(streamOf(said.shift() ?? []));
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const server = await HostileServer.start({ 'config.toml': `${providerToml(provider.port)}project_doc_max_bytes = 1048576\n` });
  return { server, say: (...responses) => said.push(...responses) };
}

test.each(Object.keys(LOADS))('%s: the main loop of the server is not blocked', { timeout: 300_000 }, async (name) => {
  const busy = await busyServer();
  const workedMs: number[] = [];
  for (let times = 1; times <= MEASURED_TIMES_MAX && Math.min(...workedMs) > WORKED_MS_MAX; times++) {
    const folder = join(busy.server.home, '..', 'work', `${times}`);
    mkdirSync(folder);
    const run = await LOADS[name]?.(busy, folder);
    await busy.server.load();
    await run?.();
    workedMs.push((await busy.server.load()).workedMs);
    busy.server.heddle.messages.length = 0;
    busy.server.heddle.lines.length = 0;
  }
  expect(Math.min(...workedMs), `worked without a pause, in milliseconds: ${workedMs.map(Math.round)}`).toBeLessThan(WORKED_MS_MAX);
});
