/** An address cannot be listened on. The message names the address, and is for people. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}
