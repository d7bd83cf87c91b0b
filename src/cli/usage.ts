/** The text of `--help`, which also follows the error message for an invalid command line. */
export const USAGE = `usage: heddle [app-server] [options]
       heddle exec PROMPT [options]
       heddle trust [FOLDER] [--yes]
       heddle doctor [--json]
       heddle store backup FILE | restore FILE | check | repair | vacuum [--json]
       heddle generate-json-schema --out DIR [--experimental]
       heddle generate-ts --out DIR [--experimental]

Serves threads of coding agents to an editor or a test harness: JSON-RPC on stdin and stdout, one message per line.

  -c, --config KEY=VALUE   override a value of config.toml; VALUE is TOML; can be repeated
  -m, --model NAME         use this model, like -c model=NAME
  -p, --profile NAME       use [profiles.NAME] of config.toml, and over it NAME.config.toml beside it
  -s, --sandbox MODE       limit commands: read-only, workspace-write or danger-full-access
  -a, --ask-for-approval POLICY
                           when to ask for approval: untrusted, on-failure, on-request or never
      --enable FEATURE, --disable FEATURE
                           like -c features.FEATURE=true or false; can be repeated
      --search             let the model search the web, like -c web_search="live"
      --oss                use the models of Ollama on this machine; --local-provider lmstudio: those of LM Studio
      --strict-config      do not start if the configuration has a key that heddle does not know
  -C, --cd DIR             the working directory of threads that name none
      --model-script FILE  use this script (YAML or JSON) in place of the model of every thread; the exit code is 1 if
                           the run did not follow the script
      --listen stdio://    the transport: only stdio:// is supported; --stdio is the same
      --framing FRAMING    lines (the default) or content-length, the framing of the Language Server Protocol
      --drain              at the end of the input, let running turns finish before exiting
      --deterministic      the same output for the same input: simulated time and ids, the embedded model, no data stored
      --log-level LEVEL    off, error, warn (the default), info or debug
      --log-file FILE      write the log to this file instead of stderr
      --wire-log FILE      write all messages in both directions to this file; secrets are hidden, long strings truncated
  -h, --help               print this help
  -V, --version            print the version of the protocol

Further options of Codex that clients pass, such as --analytics-default-enabled, are accepted and have no effect.

exec runs one turn and prints the answer. It takes the options above that set something, and asks at the terminal for
approval. stdin is the prompt, or stands behind it. The exit code is 0 if the turn has completed, 1 if it has failed, 130
if it was interrupted, 2 if the command line is wrong.

      --json               print the notifications of the server, one on a line, instead of the answer
      --resume ID, --last  continue this thread, or the last one of the folder
  -i, --image FILE         give the model an image; can be repeated
      --output-schema FILE the JSON Schema of the answer
      --approve DECISION   ask (the default), accept, acceptForSession, decline or cancel what needs approval

trust shows the files of the project in FOLDER (by default the current folder) that are new or have changed, and asks
whether to trust them. Until then they have no effect. The project itself must be trusted in config.toml.

      --yes                trust them without asking

doctor prints what a server would find: the home, the configuration, the model provider, the sandbox, and what to do
about each problem. It takes -c, -m, -p, -s and -a. The exit code is 0 if there is no error, 1 if there is one.

      --json               print the result as one line of JSON

store keeps the database of threads in order. The exit code is 0 if all is well, 1 if not.

  backup FILE              write a complete copy to a new file; servers may run
  restore FILE             replace the database by a backup; the old one is kept beside it under its date
  check                    look for damage; servers may run
  repair                   copy all that can be read of a damaged database into a new one; the old one is kept
  vacuum                   give free space back to the system
      --json               print the result as one line of JSON

For authors of clients: generate-json-schema writes the protocol as JSON Schema and as an OpenRPC document, generate-ts
writes it as TypeScript types.

  -o, --out DIR            the folder to write to; created if it does not exist
      --experimental       include the experimental API

The home folder is $HEDDLE_HOME, else $CODEX_HOME, else ~/.heddle. Without --log-level, $HEDDLE_LOG sets the log level.
`;
