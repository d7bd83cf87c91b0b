/** More are only counted. */
const FOLDERS_TOLD = 3;

/** What a command that failed reads about the folders that its sandbox makes read-only as a whole. Null: there are none. */
export function closedFolders(folders: readonly string[]): string | null {
  if (folders.length === 0) return null;
  const more = folders.length - FOLDERS_TOLD;
  const named = `${folders.slice(0, FOLDERS_TOLD).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return (
    `\nheddle: commands in the sandbox cannot change anything in ${named}: a protected symbolic link, such as .git, is there, and too many ` +
    'entries to protect only the link. To allow it, the user can add such a folder to `unprotected_folders` under ' +
    '[sandbox_workspace_write] in config.toml, or replace the link by what it leads to.\n'
  );
}
