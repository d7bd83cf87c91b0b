import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { O_PATH } from '../../../base/files/o-path.ts';
import { followPath, resolveLinks } from '../../../base/paths/follow-path.ts';
import { isWithin } from '../../../base/paths/is-within.ts';
import { linkTarget } from '../../../base/paths/link-target.ts';
import { systemErrorCode } from '../../../base/system-error-code.ts';
import { descriptorPath } from '../../../files/descriptor-path.ts';
import {
  type CommandIdentity,
  commandIdentity,
  type UnresolvedCommand,
} from './command-identity.ts';

/**
 * The state of the files and folders that a command outside the sandbox depends on, taken when the
 * command is judged. Keeps the working directory open, so that a folder or link that replaces it
 * has no effect.
 */
export class CommandPin {
  /** Null: the command depends on too many or unknown places, so it cannot be recognized again. */
  readonly identity: CommandIdentity | null;
  /**
   * A path that leads to the working directory itself. Null: it does not exist, or the system has
   * no such path.
   */
  readonly folder: string | null;
  /**
   * A link that commands can replace, and that leads to a working directory which they cannot
   * write. Null: there is none.
   */
  readonly strayed: string | null;
  readonly #command: UnresolvedCommand;
  readonly #handle: FileHandle | null;

  private constructor(
    facts: Pick<CommandPin, 'identity' | 'folder' | 'strayed'>,
    command: UnresolvedCommand,
    handle: FileHandle | null,
  ) {
    this.identity = facts.identity;
    this.folder = facts.folder;
    this.strayed = facts.strayed;
    this.#command = command;
    this.#handle = handle;
  }

  /** `roots` are the folders that commands of the thread can write. */
  static async take(command: UnresolvedCommand, roots: readonly string[]): Promise<CommandPin> {
    const handle = await openFolder(command.cwd);
    try {
      const folder = handle === null ? null : await descriptorPath(handle);
      const strayed =
        folder === null
          ? null
          : strayedLink(command.cwd, linkTarget(folder), roots.map(resolveLinks));
      return new CommandPin(
        { identity: await commandIdentity(command), folder, strayed },
        command,
        handle,
      );
    } catch (error) {
      await handle?.close();
      throw error;
    }
  }

  /**
   * Returns a path that the command depends on and that has changed since. Returns null if there is
   * none. Without an identity, only checks the links in the path of the working directory.
   */
  async changed(): Promise<string | null> {
    if (this.strayed !== null) return this.strayed;
    const before = this.identity;
    if (before === null) return null;
    const now = await commandIdentity(this.#command);
    if (now === null) return this.#command.cwd;
    const changed = [...before.keys(), ...now.keys()].filter(
      (path) => before.get(path) !== now.get(path),
    );
    // If the working directory was replaced, name it and not the files in it, which differ too.
    if (changed.includes(this.#command.cwd)) return this.#command.cwd;
    return changed.sort((one, other) => one.length - other.length)[0] ?? null;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}

async function openFolder(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | O_PATH);
  } catch (error) {
    // The start of the command reports what is wrong with its working directory.
    if (systemErrorCode(error) === null) throw error;
    return null;
  }
}

/**
 * Returns the link that commands can replace and through which a path led to an opened folder
 * outside the roots. A person who is asked sees only the path. Returns the path itself if it now
 * leads to another folder. Otherwise returns null.
 */
function strayedLink(path: string, opened: string | null, roots: readonly string[]): string | null {
  if (opened === null || opened === path || roots.some((root) => isWithin(opened, root)))
    return null;
  const { links, end } = followPath(path);
  const link = links.find((one) => roots.some((root) => isWithin(one.link, root)))?.link ?? null;
  return link ?? (end === opened ? null : path);
}
