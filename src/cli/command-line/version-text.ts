import { basename } from 'node:path';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';

/**
 * The answer to `--version` of the program at this path. Clients take the first version, or the
 * last word, for the version of the protocol. Those that run `codex` check for the name that Codex
 * writes.
 */
export function versionText(program: string, ownVersion: string): string {
  const name = basename(program) === 'codex' ? 'codex-cli' : 'heddle';
  return `${name} ${PROTOCOL_VERSION}\nheddle's own version is ${ownVersion}, that of the protocol ${PROTOCOL_VERSION}\n`;
}
