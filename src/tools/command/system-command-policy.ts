import type { CommandPolicy } from './command-policy.ts';

/** What decides about commands here. */
export function systemCommandPolicy(): CommandPolicy {
  return {
    parse: async (argv) => ({
      argv,
      text: argv.length === 3 && /^-l?c$/.test(argv[1] ?? '') ? (argv[2] ?? '') : argv.join(' '),
      commands: null,
    }),
    actions: (command) => [{ type: 'unknown', command: command.text }],
    judge: () => ({ verdict: 'run', sandboxed: false }),
    key: (command, cwd) => JSON.stringify([cwd, command.argv]),
    rules: async () => ({ rules: [] }),
    allow: async () => {},
  };
}
