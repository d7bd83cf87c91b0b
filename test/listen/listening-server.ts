import { expect, onTestFinished } from 'vitest';
import type { ClientOptions } from 'ws';
import { systemClock } from '../../src/base/clock.ts';
import type { AdmissionRules } from '../../src/listen/admission-rules.ts';
import { sha256 } from '../../src/listen/bearer-problem.ts';
import { ClientListeners, type ClientListenersOptions } from '../../src/listen/client-listeners.ts';
import { listenAddress } from '../../src/listen/listen-address.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';
import { type SocketClient, socketClient } from './socket-client.ts';

export const PORT = 'ws://127.0.0.1:0';

/** Each process of this user may connect, but not the process that listens. */
export const OPEN: AdmissionRules = { bearer: null, origins: [], hosts: [] };

/** Who has the token of `TOKEN_HEADER` may connect. */
export const WITH_TOKEN: AdmissionRules = {
  ...OPEN,
  bearer: () => ({ kind: 'capabilityToken', sha256: sha256('abc') }),
};

export interface Opened {
  /** As clients write it. */
  address: string;
  listeners: ClientListeners;
  /** The text of each refusal, from the log. */
  refused(): unknown[];
}

/** Listens until the test ends. By default nobody serves those that connect. */
export async function openListener(
  address: string,
  options: Partial<ClientListenersOptions> = {},
): Promise<Opened> {
  const log = new RecordingLog();
  const home = options.home ?? tempFolder();
  const listeners = new ClientListeners({
    home,
    cwd: home,
    admission: WITH_TOKEN,
    clock: systemClock,
    log,
    onConnection: () => {},
    ...options,
  });
  onTestFinished(() => listeners.close());
  const parsed = listenAddress(address);
  if (typeof parsed === 'string' || parsed.kind === 'stdio' || parsed.kind === 'off')
    throw new Error(address);
  const opened = await listeners.open(parsed);
  const refused = () => log.lines.map(({ fields }) => fields.text);
  return { address: opened.address, listeners, refused };
}

export interface ListeningServer extends TestServer {
  address: string;
  /** One more client, on the socket. */
  join(options?: ClientOptions): Promise<SocketClient>;
}

/** A server with a first client on stdio, that listens too. */
export async function listeningServer(
  options: TestServerOptions = {},
  address = PORT,
): Promise<ListeningServer> {
  const server = await startServer({ outlivesClients: true, ...options });
  const onConnection: ClientListenersOptions['onConnection'] = (transport) =>
    void server.serve(transport);
  const opened = await openListener(address, { onConnection });
  const clients: SocketClient[] = [];
  onTestFinished(() => {
    for (const client of clients) client.socket.terminate();
    expect(clients.flatMap(({ problems }) => problems)).toEqual([]);
    expect(clients.flatMap(({ waitingFor }) => waitingFor)).toEqual([]);
  });
  const join = async (how?: ClientOptions) => {
    const headers = { authorization: 'Bearer abc' };
    const client = await socketClient(opened.address, { headers, ...how });
    clients.push(client);
    return client;
  };
  return { ...server, address: opened.address, join };
}
