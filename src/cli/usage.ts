/** What `--help` prints, and what stands behind the complaint about a command line that is wrong. */
export const USAGE = `usage: heddle [app-server] [options]
       heddle generate-json-schema --out DIR [--experimental]
       heddle generate-ts --out DIR [--experimental]

Serves coding agents' threads to an editor or a test harness: JSON-RPC, one message a line, on stdin and stdout.

  -c, --config KEY=VALUE   set a value over config.toml, as TOML; may be repeated
  -m, --model NAME         the model, as -c model=NAME
  -s, --sandbox MODE       read-only, workspace-write or danger-full-access
  -a, --ask-for-approval POLICY
                           untrusted, on-failure, on-request or never
      --model-script FILE  answer all threads by this script, YAML or JSON, in place of a model; ends with exit code 1
                           where the run was not as the script has it
      --listen stdio://    where to listen; stdio is what there is
      --framing FRAMING    lines (the default), or content-length: a header before each message, as language servers do
      --drain              at the end of the input, let running turns end first
      --deterministic      the same bytes for the same input: fixed time and ids, the embedded model, nothing kept
      --log-level LEVEL    off, error, warn (the default), info or debug
      --log-file FILE      log to this file, not to stderr
      --wire-log FILE      write every message of both directions to this file: secrets hidden, long texts cut
  -h, --help               this text
  -V, --version            the version of the protocol that is spoken

For authors of clients, generate-json-schema writes the protocol as JSON Schema and as an OpenRPC document, generate-ts
as TypeScript types:

  -o, --out DIR            the folder to write to, made where there is none
      --experimental       with what needs the experimental API

Its home is $HEDDLE_HOME, else $CODEX_HOME, else ~/.heddle. $HEDDLE_LOG sets the log level where no option does.
`;
