import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { HookRunSummary } from '../../../src/protocol/generated/types.ts';
import { tempFolder, writeFiles } from '../../config/temp-folder.ts';
import type { TestServer } from '../../support/test-server.ts';
import { ApprovalSession, confinedConfig } from '../approval-session.ts';
import { done } from '../command-server.ts';

/** A folder with the workspace `work` in it. */
export interface World {
  folder: string;
  work: string;
}

/** A script that only ends. */
export const SCRIPT = '#!/bin/sh\nexit 0\n';

/**
 * Attempts to change, replace, create or remove each path of its arguments. Prints the codes of the
 * errors.
 */
const ATTACK = `
const fs = require("fs"), { dirname } = require("path");
const codes = new Set();
const attempt = (act) => { try { act(); } catch ({ code }) { codes.add(code); } };
for (const path of process.argv.slice(1)) {
  const folder = dirname(path);
  attempt(() => fs.mkdirSync(folder, { recursive: true }));
  attempt(() => fs.writeFileSync(path, "evil"));
  attempt(() => fs.appendFileSync(path, "evil"));
  fs.writeFileSync("evil.tmp", "evil");
  attempt(() => fs.linkSync("evil.tmp", path));
  attempt(() => fs.renameSync("evil.tmp", path));
  attempt(() => fs.rmSync(path, { recursive: true }));
  attempt(() => fs.symlinkSync("/bin/true", path));
  attempt(() => fs.mkdirSync(path));
  attempt(() => fs.chmodSync(path, 0o777));
  attempt(() => { fs.renameSync(folder, folder + ".moved"); fs.mkdirSync(folder); fs.writeFileSync(path, "evil"); });
}
console.log([...codes].join(" "));
`;

/** The command that does so with these paths. */
export function attack(...paths: string[]): string {
  return `'${process.execPath}' -e '${ATTACK}' ${paths.map((path) => `'${path}'`).join(' ')}`;
}

/** What is at a path: the text of a file, the target of a link, `folder`, or null. */
export function stateOf(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isSymbolicLink()
    ? `-> ${readlinkSync(path)}`
    : stat.isDirectory()
      ? 'folder'
      : readFileSync(path, 'utf8');
}

/**
 * Starts a session whose PATH begins with folders of the workspace. `isHome`: the workspace is the
 * home folder of the user.
 */
export async function startWorld(
  isHome: boolean,
  approvals = 'never',
): Promise<World & { session: ApprovalSession }> {
  const folder = tempFolder();
  const work = join(folder, 'work');
  writeFiles(folder, {
    'user/x': '',
    'work/early/x': '',
    'work/bin/x': '',
    'work/tools/x': '',
    'work/lib/x': '',
    'work/links/x': '',
  });
  const env = {
    HOME: isHome ? work : join(folder, 'user'),
    PATH: `${work}/early:${work}/bin:/usr/bin:/bin`,
  };
  const session = await ApprovalSession.start({ folder, env, config: confinedConfig(approvals) });
  return { folder, work, session };
}

/** Runs a turn of a thread. Returns the end of its last hook. */
export async function endOfHook(
  { client, model }: TestServer,
  threadId: string,
): Promise<HookRunSummary | undefined> {
  model.push(done);
  const { turn } = await client.request('turn/start', { threadId, input: [] });
  await client.waitFor('turn/completed', (params) => params.turn.id === turn.id);
  return client.notifications('hook/completed').at(-1)?.run;
}
