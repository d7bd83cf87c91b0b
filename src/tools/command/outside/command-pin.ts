import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { systemErrorCode } from '../../../base/system-error-code.ts';
import { descriptorPath } from '../../../files/descriptor-path.ts';
import { O_PATH } from '../../../files/o-path.ts';
import type { PinnedCommand } from '../../../policy/outside/named-paths.ts';
import { type CommandIdentity, commandIdentity } from './command-identity.ts';

/**
 * What a command depends on that may run outside the sandbox, as it was when the command was judged. It keeps the working
 * directory open, so that a folder or link that replaces it has no effect.
 */
export class CommandPin {
  /** Null: the command depends on too many places, so it cannot be recognized again. */
  readonly identity: CommandIdentity | null;
  /** A path that leads to the working directory itself. Null: it does not exist, or the system has no such path. */
  readonly folder: string | null;
  readonly #command: PinnedCommand;
  readonly #handle: FileHandle | null;

  private constructor(facts: Pick<CommandPin, 'identity' | 'folder'>, command: PinnedCommand, handle: FileHandle | null) {
    this.identity = facts.identity;
    this.folder = facts.folder;
    this.#command = command;
    this.#handle = handle;
  }

  static async take(command: PinnedCommand): Promise<CommandPin> {
    const handle = await openFolder(command.cwd);
    try {
      const folder = handle === null ? null : await descriptorPath(handle);
      return new CommandPin({ identity: await commandIdentity(command), folder }, command, handle);
    } catch (error) {
      await handle?.close();
      throw error;
    }
  }

  /** Returns a path that the command depends on and where something has changed since. Returns null if there is none. */
  async changed(): Promise<string | null> {
    const before = this.identity;
    const now = await commandIdentity(this.#command);
    if (before === null || now === null) return this.#command.cwd;
    const changed = [...before.keys(), ...now.keys()].filter((path) => before.get(path) !== now.get(path));
    // A replaced folder says more than the files in it.
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
