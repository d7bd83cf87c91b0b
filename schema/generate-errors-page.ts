import type { ErrorTable } from './bundle.ts';

/** The page that describes every error of requests and of turns, as Markdown. */
export function generateErrorsPage({ codes, turnErrors }: ErrorTable): string {
  const requests = Object.entries(codes).map(([code, { numbers, meaning, advice }]) => {
    return `| \`${code}\` | ${numbers.join(', ')} | ${meaning} | ${advice} |\n`;
  });
  const kinds = Object.entries(turnErrors);
  const sent = kinds.flatMap(([kind, { meaning, advice }]) =>
    advice === undefined ? [] : [`| \`${kind}\` | ${meaning} | ${advice} |\n`],
  );
  const others = kinds.flatMap(([kind, { meaning, advice }]) =>
    advice === undefined ? [`| \`${kind}\` | ${meaning} |\n`] : [],
  );
  return `${HEAD}${requests.join('')}${TURNS}${sent.join('')}${OTHERS}${others.join('')}`;
}

const HEAD = `# Errors

<!-- Generated from schema/errors.json by \`npm run generate\`. Do not edit. -->

A request that fails gets an \`error\` in place of a \`result\`:

\`\`\`json
{"id": 7, "error": {"code": -32600, "message": "no active turn to interrupt", "data": {"code": "turn_not_active"}}}
\`\`\`

- \`error.data.code\` never changes, so programs can rely on it. The message is for people, and may change.
- \`error.data\` can have further fields. Errors about a file have its \`path\`. Errors of writes to the configuration have
  \`config_write_error_code\`, the name that Codex uses.
- \`error.code\` is a number of JSON-RPC. With -32600 and -32602, there is a mistake in the request. With -32603, the server or its
  machine has a problem. -32001 means that the server is busy: send the request again later. An unknown method is -32600, not -32601.

[methods.md](methods.md) lists the errors of each method, and [troubleshooting.md](troubleshooting.md) explains messages that you may see.

## Errors of requests

| code | number | meaning | what to do |
|---|---|---|---|
`;

const TURNS = `
## Errors of turns

A turn that fails has an \`error\` in \`turn/completed\`, and the notification \`error\` comes before it. \`codexErrorInfo\` is the
kind of failure, for programs: a string, or an object whose only key is the kind, such as \`{"httpConnectionFailed": {"httpStatusCode": 404}}\`.

| kind | meaning | what to do |
|---|---|---|
`;

const OTHERS = `
These kinds do not come from a turn that ran in heddle. They can be in an imported rollout, and a
[script](scripted-model.md) can fail with them:

| kind | meaning |
|---|---|
`;
