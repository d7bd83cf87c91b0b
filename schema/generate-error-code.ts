import type { ErrorTable } from './bundle.ts';

/**
 * The type of `error.data.code`, as TypeScript. The compiler refuses any code that `errors.json`
 * does not have.
 */
export function generateErrorCode({ codes }: ErrorTable): string {
  const members = Object.keys(codes).map((code) => `  | '${code}'\n`);
  return `// Generated from schema/ by \`npm run generate\`. Do not edit.

/**
 * The values of \`error.data.code\`, which docs/errors.md and docs/errors/machine.md describe. A value never changes its meaning, and none is
 * removed. Later versions, and other servers of this protocol, may send others: a \`switch\` needs a \`default\`.
 */
export type ErrorCode =
${members.join('').trimEnd()};
`;
}
