import { basename } from 'node:path';
import { PROTOCOL_VERSION } from '../protocol/protocol-version.ts';

/** The answer to `--version` of the program at this path. Clients that run `codex` check for the name that Codex writes. */
export function versionLine(program: string): string {
  return `${basename(program) === 'codex' ? 'codex-cli' : 'heddle'} ${PROTOCOL_VERSION}\n`;
}
