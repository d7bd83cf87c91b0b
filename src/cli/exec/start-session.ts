import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { App } from '../../app.ts';
import type { Client } from '../../client/client.ts';
import type { ClientOptions } from '../../client/client-options.ts';
import { connect } from '../../client/connect.ts';
import type { Transport } from '../../transport/transport.ts';

export interface SessionHost {
  /** Starts the server for a client on these streams. */
  start(streams: {
    input: Readable;
    output: Writable;
  }): Promise<{ server: Pick<App, 'connect' | 'close'>; transport: Transport; end(): void }>;
}

/** A server in this process, and its client. */
export interface Session {
  client: Client;
  /** Ends both. Resolves with the reports of the server for the person who ends it. */
  close(): Promise<string[]>;
}

export async function startSession(host: SessionHost, options: ClientOptions): Promise<Session> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { server, transport, end } = await host.start({ input, output });
  const served = server.connect(transport).finally(() => transport.end());
  const client = connect({ input: output, output: input, ...options });
  return {
    client,
    async close(): Promise<string[]> {
      await client.close();
      await served;
      const reports = await server.close('clientGone');
      end();
      return reports;
    },
  };
}
