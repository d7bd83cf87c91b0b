import { cpSync } from 'node:fs';
import { tempFolder } from '../config/temp-folder.ts';
import { CountingIds } from '../support/counting-ids.ts';
import { taken } from '../support/settled.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';

/**
 * Starts another server on a copy of the files as they are now, as if the first process were
 * killed.
 */
export async function afterDeathOf(
  { client, folder }: Pick<TestServer, 'client' | 'folder'>,
  options: TestServerOptions = {},
): Promise<TestServer> {
  await taken(client);
  const copy = tempFolder();
  cpSync(folder, copy, { recursive: true });
  return startServer({ pid: 4712, ids: new CountingIds(1000), ...options, folder: copy });
}
