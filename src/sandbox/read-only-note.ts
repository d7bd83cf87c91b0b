import type { Confinement } from './sandbox.ts';

/** More are only counted. */
const FOLDERS_TOLD = 3;
/** Programs print this if they cannot write to such a folder, in one of two spellings. */
const REFUSED = 'ead-only file system';

/**
 * Looks in the output of a command for the error that a folder is read-only, also if it is split
 * over chunks.
 */
export class RefusedWrites {
  readonly #ends = new Map<string, Buffer>();
  #areSeen = false;

  get areSeen(): boolean {
    return this.#areSeen;
  }

  /** The next bytes of a stream. They need not stay valid. */
  take(stream: string, bytes: Buffer): void {
    if (this.#areSeen) return;
    const kept = REFUSED.length - 1;
    const joint = Buffer.concat([
      this.#ends.get(stream) ?? Buffer.alloc(0),
      bytes.subarray(0, kept),
    ]);
    this.#areSeen = joint.includes(REFUSED) || bytes.includes(REFUSED);
    this.#ends.set(
      stream,
      bytes.length < kept ? joint.subarray(-kept) : Buffer.from(bytes.subarray(-kept)),
    );
  }
}

/**
 * The note for a command that failed in folders in which its sandbox does not allow what its bounds
 * do. Null: there are none.
 */
export function readOnlyNote({
  closed = [],
  heldLinks = [],
}: Pick<Confinement, 'closed' | 'heldLinks'>): string | null {
  const notes = [
    closed.length === 0
      ? ''
      : `\nheddle: commands in the sandbox cannot change anything in ${firstOf(closed)}: a protected symbolic link, such as .git, is there, and ` +
        'too many entries to protect only the link. To allow it, the user can add such a folder to `unprotected_folders` under ' +
        '[sandbox_workspace_write] in config.toml, or replace the link by what it leads to.\n',
    heldLinks.length === 0
      ? ''
      : `\nheddle: commands in the sandbox cannot create, rename or remove entries of the folders of ${firstOf(heldLinks)}, because these ` +
        'symbolic links lead to hidden files. To allow it, the user can let a pattern match what they lead to.\n',
  ];
  return notes.join('') || null;
}

function firstOf(paths: readonly string[]): string {
  const more = paths.length - FOLDERS_TOLD;
  return `${paths.slice(0, FOLDERS_TOLD).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
