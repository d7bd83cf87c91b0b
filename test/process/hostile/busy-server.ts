import { onTestFinished } from 'vitest';
import { ProviderServer } from '../../model/provider-server.ts';
import { providerToml } from '../support.ts';
import type { BusyServer } from './busy-loads.ts';
import { HostileServer } from './hostile-server.ts';
import { streamOf } from './stream-of.ts';

/**
 * A server whose provider says what a load wants it to say, after a turn that loads what is loaded
 * at first use.
 */
export async function busyServer(): Promise<BusyServer & { server: HostileServer }> {
  const said: object[][] = [];
  const provider = await ProviderServer.start((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(streamOf(said.shift() ?? []));
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const server = await HostileServer.start({
    'config.toml': `${providerToml(provider.port)}project_doc_max_bytes = 1048576\n`,
  });
  return {
    server,
    heddle: server.heddle,
    home: server.home,
    say: (...responses) => said.push(...responses),
  };
}
