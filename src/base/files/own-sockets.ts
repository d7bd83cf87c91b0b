const sockets = new Set<string>();

/**
 * From now on no command of this process sees the socket at this path, on which the process
 * listens. Returns the end of that.
 */
export function hideSocket(path: string): () => void {
  sockets.add(path);
  return () => void sockets.delete(path);
}

/** The real paths of the sockets on which this process listens. */
export function ownSockets(): readonly string[] {
  return [...sockets];
}
