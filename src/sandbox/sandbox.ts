import type { Socket } from 'node:net';
import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import type { ServerProgram } from './server-programs/server-program.ts';

/** A command to run in a sandbox. The working directory and the program exist. */
export interface ConfinedCommand {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Whether the command runs in its own terminal, and must be able to control it. */
  terminal: boolean;
  /** Serves the command's connections to its proxy. Required by bounds with `managedNetwork`. */
  serve?: CommandServer | undefined;
  /** Ends the wait for what the sandbox needs: `confine` rejects with a `ProcessStartError`. */
  signal?: AbortSignal | undefined;
}

/**
 * Serves a connection to the proxy of a command. `credential` is what the client must give, as the
 * password of the user `heddle`. Null: none, because only the command can have made the connection.
 */
export type ServeConnection = (socket: Socket, credential: string | null) => void;

/** Serves the connections of a command: a function, or a proxy in another thread, by its number. */
export type CommandServer = ServeConnection | number;

/** How to start the confined process. */
export interface Confinement {
  /** The program and arguments to run instead of the command. */
  argv: readonly string[];
  /** The command's environment, without the variables that would change the confining program. */
  env: Readonly<Record<string, string>>;
  /** Files to pass to the process, from file descriptor 3 on. `release` closes them. */
  files: readonly number[];
  /**
   * Folders in the writable roots that the command cannot change, though nothing in its bounds says
   * so.
   */
  closed?: readonly string[];
  /**
   * Links in whose folders the command cannot create, rename or remove anything, because they lead
   * to hidden files.
   */
  heldLinks?: readonly string[];
  /**
   * Whether the arguments make the terminal on stdin the command's own. Otherwise the process has
   * to be started in it.
   */
  takesTerminal: boolean;
  /**
   * Call it after the process has ended, or if it was not started. Removes the files and guards of
   * the sandbox. `moreFollow`: similar commands may follow soon, so it keeps for a moment what they
   * need, or until `Sandbox.tidy`.
   */
  release(moreFollow?: boolean): Promise<void>;
}

/** Confines processes with the means of this system. */
export interface Sandbox {
  /**
   * Rejects with a `SandboxUnavailableError` if there is no working sandbox: no command runs
   * without its bounds. Rejects with a `ProcessStartError` if the working directory is not readable
   * within the bounds.
   */
  confine(command: ConfinedCommand, bounds: SandboxBounds): Promise<Confinement>;
  /**
   * Returns a function that says how a real path in the writable roots is protected, so that no
   * command could write it: a predicate for the path. Null: it is not. Rejects with a
   * `ProcessStartError` if there is too much to protect.
   */
  protects(bounds: SandboxBounds): Promise<(path: string) => string | null>;
  /**
   * Returns why the server must not start a program outside the sandbox: commands may have written
   * what it runs. Null: it may. Call it right before the start.
   */
  refusal(program: ServerProgram): Promise<string | null>;
  /** Whether commands that run now, or that are about to start, could write what a program runs. */
  isExposed(program: ServerProgram): Promise<boolean>;
  /**
   * The configuration may name further programs, which commands that run now must not have changed
   * at their next start.
   */
  programsChanged(): Promise<void>;
  /**
   * Begins to prepare what commands with these bounds will need and takes longer than starting one.
   */
  prepare(bounds: SandboxBounds): Promise<void>;
  /** Removes what it keeps in workspaces for commands that may follow. */
  tidy(): Promise<void>;
  /**
   * Removes what the sandbox keeps between commands. To be called when no command runs any more.
   */
  close(): Promise<void>;
  /**
   * Returns the name of the sandbox. If it does not work here, returns what is missing and how to
   * get it.
   */
  available(): Promise<{ name: string } | { problem: string }>;
}
