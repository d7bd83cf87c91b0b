/** The system's word for an error, such as ENOENT; null where it is none of the system's. */
export function systemErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Whether it is an error of the system with one of these codes. */
export function hasErrorCode(error: unknown, codes: readonly string[]): boolean {
  const code = systemErrorCode(error);
  return code !== null && codes.includes(code);
}

/** Whether it says that nothing is there, or that what should be a folder on the way is none. */
export function isAbsent(error: unknown): boolean {
  return hasErrorCode(error, ['ENOENT', 'ENOTDIR']);
}
