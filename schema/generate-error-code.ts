import type { ErrorTable } from './bundle.ts';

/** The type of `error.data.code`, as TypeScript. The compiler refuses any code that `errors.json` does not have. */
export function generateErrorCode({ codes }: ErrorTable): string {
  const members = Object.keys(codes).map((code) => `  | '${code}'\n`);
  return `// Generated from schema/ by \`npm run generate\`. Do not edit.

/** \`error.data.code\` of a response: the reason why a request failed. docs/errors.md describes each. */
export type ErrorCode =
${members.join('').trimEnd()};
`;
}
