import type { CommandServer } from './sandbox.ts';

/**
 * A listener for the connections of commands, of one command at a time. At first it closes all of
 * them.
 */
export interface CommandListener {
  /**
   * Passes the connections to another server, with the credential that the client must give; null:
   * they are closed. Resolves when every connection that had been made before has been accepted,
   * with the number of connections since the last call. Rejects if the listener or the server has
   * ended.
   */
  serve(server: CommandServer | null, credential: string | null): Promise<number>;
  close(): void;
}

/** A listener that was made in a network namespace. */
export interface ReceivedListener extends CommandListener {
  /** The process that has made it, as this process knows it. */
  pid: number;
  /** Ends that process. */
  endSender(): void;
}

/** Makes the listeners of commands. */
export interface Listeners {
  /** Listens on a free port of this machine's loopback. Rejects with the system's error. */
  listen(): Promise<CommandListener & { port: number }>;
  /**
   * Runs a program whose last process is Node, and passes it a script: it makes a listener, and
   * sends it. Rejects with an error that has what the program has written to stderr.
   */
  receive(program: readonly string[], port: number): Promise<ReceivedListener>;
}
