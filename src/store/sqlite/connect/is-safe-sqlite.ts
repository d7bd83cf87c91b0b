/** Earlier versions of SQLite can corrupt a WAL file that has several writers. */
export const SQLITE_VERSION_MIN = '3.51.3';

/** Whether heddle can use this version of SQLite. */
export function isSafeSqlite(version: string): boolean {
  return versionNumber(version) >= versionNumber(SQLITE_VERSION_MIN);
}

/** 3.51.3 is 3,051,003. */
function versionNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return major * 1_000_000 + minor * 1_000 + patch;
}
