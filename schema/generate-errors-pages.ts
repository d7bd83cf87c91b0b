import type { ErrorTable } from './bundle.ts';

/** The number of errors that the server or its machine causes, and not the request. */
const MACHINE = -32603;
const GENERATED = '<!-- Generated from schema/errors.json by `npm run generate`. Do not edit. -->';

/** The pages that describe every error of requests and of turns, as Markdown, by their paths. */
export function generateErrorsPages({ codes, turnErrors }: ErrorTable): Record<string, string> {
  const rows = (isMachines: boolean) =>
    Object.entries(codes).flatMap(([code, { numbers, meaning, advice }]) =>
      numbers.includes(MACHINE) === isMachines
        ? [`| \`${code}\` | ${numbers.join(', ')} | ${meaning} | ${advice} |\n`]
        : [],
    );
  const kinds = Object.entries(turnErrors);
  const sent = kinds.flatMap(([kind, { meaning, advice }]) =>
    advice === undefined ? [] : [`| \`${kind}\` | ${meaning} | ${advice} |\n`],
  );
  const others = kinds.flatMap(([kind, { meaning, advice }]) =>
    advice === undefined ? [`| \`${kind}\` | ${meaning} |\n`] : [],
  );
  return {
    'docs/errors.md': `${HEAD}${rows(false).join('')}`,
    'docs/errors/machine.md': inFolder(`${MACHINE_HEAD}${rows(true).join('')}`),
    'docs/errors/turns.md': inFolder(`${TURNS}${sent.join('')}${OTHERS}${others.join('')}`),
  };
}

/** Links to pages of `docs`, for a page in a folder of it. */
function inFolder(text: string): string {
  return text.replaceAll(/\]\((?=[\w-]+(?:\/[\w-]+)*\.md)/g, '](../');
}

const HEAD = `# Errors

After this page, you can handle the errors of requests.

${GENERATED}

A request that fails gets an \`error\` in place of a \`result\`:

\`\`\`json
{"id": 7, "error": {"code": -32600, "message": "no active turn to interrupt", "data": {"code": "turn_not_active"}}}
\`\`\`

- \`error.data.code\` never changes, so programs can rely on it. The message is for people, and may change.
- \`error.data\` can have further fields. Errors about a file have its \`path\`. Errors of writes to the configuration have
  \`config_write_error_code\`, the name that Codex uses.

\`error.code\` is a number of JSON-RPC:

| number | the problem | the codes are |
|---|---|---|
| -32600, -32602 | a mistake in the request. An unknown method is -32600, not -32601 | below |
| -32001 | the server is busy: send the request again later | below: \`overloaded\` |
| ${MACHINE} | the server or its machine has a problem | in [machine.md](errors/machine.md), even if they can have another number, too |

The failures of turns are in [turns.md](errors/turns.md). [methods.md](methods.md) lists the errors of each method, and
[troubleshooting.md](troubleshooting.md) explains messages that you may see.

## Errors of requests

| code | number | meaning | what to do |
|---|---|---|---|
`;

const MACHINE_HEAD = `# Errors of the server and its machine

After this page, you know what to do about the errors that can have the number ${MACHINE}: the server or its machine has a problem.

${GENERATED}

[methods.md](methods.md) names them with a method only as examples: others are possible. [errors.md](errors.md)
has the form of an error, and all other codes.

| code | number | meaning | what to do |
|---|---|---|---|
`;

const TURNS = `# Errors of turns

After this page, you can handle the failure of a turn by its kind.

${GENERATED}

A turn that fails has an \`error\` in \`turn/completed\`, and the notification \`error\` comes before it. \`codexErrorInfo\` is the
kind of failure, for programs: a string, or an object whose only key is the kind. An example:
\`{"httpConnectionFailed": {"httpStatusCode": 404}}\`.

| kind | meaning | what to do |
|---|---|---|
`;

const OTHERS = `
These kinds do not come from a turn that ran in heddle. They can be in an imported rollout, and a
[script](scripted-model.md) can fail with them:

| kind | meaning |
|---|---|
`;
