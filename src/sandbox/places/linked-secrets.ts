import { join } from 'node:path';
import { isLink } from '../../base/paths/is-link.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { realPath } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { HOME_SECRETS } from '../../policy/permissions/home-readable.ts';

/**
 * Returns the real paths of the home's secrets that are links out of the home, such as a
 * config.toml that is kept with other dotfiles. `home` is a real path.
 */
export function linkedSecrets(home: string): string[] {
  return HOME_SECRETS.flatMap((name) => {
    const path = join(home, name);
    const real = isLink(path) ? realPath(path) : null;
    if (real === null || isWithin(real, home)) return [];
    const stat = statOf(real);
    return stat?.isFile() === true || stat?.isDirectory() === true ? [real] : [];
  });
}
