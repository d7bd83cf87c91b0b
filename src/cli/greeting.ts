/**
 * The text for a person who has started the server at a terminal. Fits into 80 columns, but for the
 * path of the docs.
 */
export function greeting(docsFolder: string): string {
  return `heddle is a server for coding agents: an editor or another client starts it.
It waits on stdin for JSON-RPC messages, one per line. Ctrl-D ends it. Try:

  heddle exec "Say hello"    one question from the shell
  heddle init                sets the provider, the model and the sandbox
  heddle wire                type the messages and see the answers
  heddle doctor              what heddle finds: home, configuration, provider
  heddle --help              all commands and options
  ${docsFolder}
`;
}
