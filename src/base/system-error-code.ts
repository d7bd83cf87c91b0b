/** The code of a system error, such as ENOENT. Returns null for other errors. */
export function systemErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null;
}

/** Whether this is a system error with one of these codes. */
export function hasErrorCode(error: unknown, codes: readonly string[]): boolean {
  const code = systemErrorCode(error);
  return code !== null && codes.includes(code);
}

/**
 * Whether the error says that nothing is at the path, or that a part of the path is not a folder.
 */
export function isAbsent(error: unknown): boolean {
  return hasErrorCode(error, ['ENOENT', 'ENOTDIR']);
}
