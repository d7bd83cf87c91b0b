import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { StateFile } from '../../src/handlers/external-agent/read-source.ts';
import { tempFolder } from '../config/temp-folder.ts';

test('the large file with the servers of all places is read once for all places', async () => {
  const servers = { a: { command: 'a' } };
  const home = tempFolder({
    '.claude.json': JSON.stringify({ mcpServers: servers, projects: { '/p': { mcpServers: {} } } }),
  });
  const state = new StateFile(home);
  expect(await state.read(['mcpServers'])).toEqual(servers);
  rmSync(join(home, '.claude.json'));
  expect(await state.read(['projects', '/p', 'mcpServers'])).toEqual({});
  expect(await state.read(['projects', '/q', 'mcpServers'])).toBeNull();
});
