import type { CommandName } from './commands.ts';

/** The rest of the help of a command, after its summary. No start of a server needs it. */
export const HELP_TEXTS: Readonly<Partial<Record<CommandName, string>>> = {
  'app-server': `Serves threads of coding agents to an editor or a test harness: JSON-RPC on stdin and stdout, one message per line.

Further options of Codex that clients pass, such as --analytics-default-enabled, are accepted and have no effect.

The home folder is $HEDDLE_HOME, else $CODEX_HOME, else ~/.heddle. The log level is --log-level, else $HEDDLE_LOG.`,
  exec: `Asks at the terminal for approval. Without PROMPT, or with -, stdin is the prompt; otherwise stdin is added to it. As in
Codex, heddle exec resume ID [PROMPT] is the same as --resume ID, and heddle exec resume --last [PROMPT] the same as --last. Put -- before a
prompt that begins with a hyphen, or is one of the words resume, review, fork and help. The exit code is 0 if the turn has completed, 1 if
it has failed, 130 if it was interrupted, 2 if the command line is wrong.`,
  init: `Asks for the provider, the model and the sandbox of commands, and writes config.toml into the home. The file has no keys: it names the
environment variables that have them.`,
  wire: `At a terminal, a line is a method and its params: turn/start input="say hello". Tab completes methods, fields and values; help lists
the other commands. In a pipe, stdin has the lines, and stdout gets the messages of the server. The exit code is then 1 if a line was wrong,
a request was refused or a turn has failed. docs/wire.md has the whole language.`,
  doctor: `Checks the home, the configuration, the model provider, the sandbox and more. Changes nothing. The exit code is 0 if there is no
error, 1 if there is one.`,
  trust: `Shows the files of the project in FOLDER (by default the current folder) that are new or have changed, and asks whether to trust
them. Until then they have no effect. The project itself must be trusted in config.toml.`,
  store: 'The exit code is 0 if all is well, 1 if not.',
  threads:
    'search looks only at names and first messages, not at the text of threads. The exit code is 1 if it finds nothing.',
  mcp: 'docs/mcp.md says how servers are configured.',
  completion: `For bash, add this line to ~/.bashrc: source <(heddle completion bash)

For zsh, add this line to ~/.zshrc: source <(heddle completion zsh)

For fish: heddle completion fish > ~/.config/fish/completions/heddle.fish`,
};
