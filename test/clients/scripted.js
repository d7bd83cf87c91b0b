// Functions that the scripts of the clients share.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const { CLIENT_PACKAGES } = process.env;

/** Loads a CommonJS package of the client. */
export const load = createRequire(join(CLIENT_PACKAGES, 'package.json'));

/** The path of a file in the client's packages. */
export function packageFile(...parts) {
  return join(CLIENT_PACKAGES, 'node_modules', ...parts);
}

/** Imports a file of the client's packages as an ES module. */
export function importFile(...parts) {
  return import(pathToFileURL(packageFile(...parts)).href);
}

/** A prompt for which the embedded model runs a command. */
export function runPrompt(cmd, more = {}) {
  return `call exec_command ${JSON.stringify({ cmd, ...more })}`;
}

/** A prompt for which the embedded model runs a command that needs approval. */
export function approvalPrompt(cmd) {
  return runPrompt(cmd, { sandbox_permissions: 'require_escalated', justification: 'May it?' });
}

/** Waits until a file exists. The runner's time limit bounds it. */
export async function untilExists(path) {
  while (!existsSync(path)) await wait(50);
}
