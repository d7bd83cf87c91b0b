import { chmodSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkEntry } from '../../src/sandbox/linux/enter-namespace.ts';
import { SandboxUnavailableError } from '../../src/sandbox/processes/processes.ts';
import { tempFolder } from '../config/temp-folder.ts';

function program(script: string): string {
  const path = join(tempFolder(), 'nsenter');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('namespaces that the system lets nobody enter are an error of the sandbox, with its reason', async () => {
  const handles = { net: 3, user: 4 };
  const refusing = program(
    'echo "nsenter: reassociate to namespace failed: Operation not permitted" >&2; exit 1',
  );
  const problem = await checkEntry(handles, refusing).catch((error: unknown) => error);
  expect(problem).toBeInstanceOf(SandboxUnavailableError);
  expect(String(problem)).toMatch(
    /cannot be entered \(nsenter: reassociate to namespace failed: Operation not permitted\)\.$/,
  );
  await expect(checkEntry(handles, '/nonexistent/nsenter')).rejects.toThrow('ENOENT');
  await checkEntry(handles, program('test "$#" = 5 && test "$5" = true'));
});

test('a namespace of this process can be entered, or the reason is told', async () => {
  const [net, user] = ['net', 'user'].map((type) => openSync(`/proc/self/ns/${type}`, 'r'));
  // A process is in its own user namespace already, which the kernel refuses to enter again.
  await expect(checkEntry({ net: net ?? -1, user: user ?? -1 })).rejects.toThrow(
    'cannot be entered',
  );
});
