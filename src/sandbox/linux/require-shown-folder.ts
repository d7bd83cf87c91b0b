import { isWithin } from '../../base/paths/is-within.ts';
import { realPath } from '../../base/paths/real-path.ts';
import { ProcessStartError } from '../processes/processes.ts';
import { nearestKind } from './bubblewrap-mounts.ts';
import type { BuiltView } from './sandbox-view.ts';

/**
 * Throws a `ProcessStartError` if the view does not show the working directory, or a link in it may
 * have been made by a command.
 */
export function requireShownFolder(
  cwd: string,
  {
    view: { everything, places },
    notFollowed,
    concealed,
  }: Pick<BuiltView, 'view' | 'notFollowed' | 'concealed'>,
): void {
  const left = [...notFollowed].find(([path]) => isWithin(cwd, path));
  if (left !== undefined) {
    throw new ProcessStartError(
      `${cwd}: ${left[1]} is a symbolic link out of the workspace, and a command may have made it. Use the folder that it leads to instead.`,
    );
  }
  const real = realPath(cwd);
  const hidden = concealed.find(({ path }) => real !== null && isWithin(real, path));
  if (hidden !== undefined) {
    throw new ProcessStartError(
      `${cwd}: this folder cannot be used, because ${hidden.path} is hidden by the pattern ${hidden.text}, or by a link that matches it`,
    );
  }
  const kind = real === null ? 'nothing' : nearestKind(real, places);
  if (
    kind === undefined
      ? everything
      : kind === 'read' || kind === 'write' || (real !== null && places.has(real))
  )
    return;
  throw new ProcessStartError(`${cwd}: this folder cannot be read in the sandbox`);
}
