import type { Config } from '../../config/config.ts';
import { validOrNull } from '../../config/valid-or-null.ts';
import type { SkillSearch } from './find-skills.ts';
import type { SkillSources } from './skill-places.ts';

/**
 * The places in which a configuration looks for skills, and the skills that it switches off. A
 * `configWarning` tells an invalid setting.
 */
export async function skillSearch(
  config: Config,
  { cwd, extraRoots }: Pick<SkillSources, 'cwd' | 'extraRoots'>,
): Promise<SkillSearch> {
  const switches = (await validOrNull(() => config.get('skills.config'))) ?? [];
  return { home: config.home, userHome: config.env.HOME || null, cwd, extraRoots, switches };
}
