/** The callbacks of a transport, from `listen` on. */
export interface TransportEvents {
  /** The JSON text of one message, in the order in which they came. */
  onMessage(text: string): void;
  /** A message that could not be passed on, with the reason for the log. */
  onSkipped(reason: string): void;
  /** No more messages come. `error` says why if reading failed. */
  onEnd(error: Error | null): void;
}

/**
 * The connection to a client as messages in both directions. Only the transport itself deals with
 * bytes, lines and frames.
 */
export interface Transport {
  /** Begins to read. Called once. Returns the function that stops it. */
  listen(events: TransportEvents): () => void;
  /** Stops reading until `resume`: the client's writes wait. */
  pause(): void;
  resume(): void;
  /** Writes messages, in order. `onTaken` is called when the operating system has accepted them. */
  write(texts: readonly string[], onTaken: () => void): void;
  /**
   * Writes one long message, given as the parts of its bytes. Without this method, `write` gets its
   * text.
   */
  writeLong?(parts: readonly Uint8Array[], onTaken: () => void): void;
  /** The number of bytes that the operating system has not accepted yet. */
  readonly backlog: number;
  /**
   * Calls back when nothing can be written any more: writing has failed with an error, or, with
   * null, the client has closed the connection.
   */
  onWriteError(callback: (error: Error | null) => void): void;
  /**
   * Ends the connection: nothing more is written. `slow`: because the client does not read fast
   * enough.
   */
  end(why?: 'slow'): void;
  /**
   * Whether a client that reads slowly costs only itself: no turn waits for it, and it is cut off
   * when too much waits for it.
   */
  readonly isRemote?: boolean;
  /** The place of the client: `unix`, or an address with a port. Absent: a pair of streams. */
  readonly peer?: string;
}
