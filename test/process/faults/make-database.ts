import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { CLIENT_INFO } from '../../support/test-client.ts';
import { EXECUTABLE } from '../support.ts';

/**
 * Makes a home with a database of one thread in an empty folder. Returns the path of the database.
 */
export function makeDatabase(home: string): string {
  const requests = [
    { id: 1, method: 'initialize', params: { clientInfo: CLIENT_INFO } },
    { id: 2, method: 'thread/start', params: { cwd: home } },
  ];
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  execFileSync(process.execPath, [EXECUTABLE], {
    input,
    cwd: home,
    env: { PATH: process.env.PATH ?? '', HOME: home, HEDDLE_HOME: home },
  });
  return join(home, 'heddle.db');
}
