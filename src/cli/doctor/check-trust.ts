import { isAbsolute } from 'node:path';
import { isFolder } from '../../base/paths/is-folder.ts';
import type { Config } from '../../config/config.ts';
import { tellSome } from '../../config/keys/tell-some.ts';
import { isTable } from '../../config/toml/config-table.ts';
import { type DoctorCheck, type DoctorProblem, NO_CONFIGURATION } from './doctor-check.ts';
import { settingPlace } from './setting-place.ts';

/**
 * Looks for the folders of `[projects]`, in which the user has said which projects to trust. The
 * check of the configuration tells invalid ones.
 */
export function checkTrust(config: Config | null): DoctorCheck {
  if (config === null) return { name: 'trust', summary: NO_CONFIGURATION, facts: {}, problems: [] };
  const { projects } = config.values;
  const folders = isTable(projects) ? Object.keys(projects) : [];
  const ofNoUse = folders
    .filter((folder) => isAbsolute(folder) && !isFolder(folder))
    .map((folder) => ({ path: ['projects', folder] }));
  const problems = tellSome(ofNoUse, {
    each: ({ path }) => ({ ...problemOf(path[1] ?? ''), ...settingPlace(config, path) }),
    rest: (_, first): DoctorProblem => ({
      severity: 'warning',
      message: `the folders of further entries in [projects] do not exist, such as ${first.path[1]}`,
      fix: 'Remove these entries from config.toml.',
      ...settingPlace(config, first.path),
    }),
  });
  const count = folders.length - ofNoUse.length;
  const summary =
    folders.length === 0
      ? 'none'
      : `${count} of ${folders.length} ${folders.length === 1 ? 'entry is' : 'entries are'} of use`;
  return { name: 'trust', summary, facts: { folders }, problems };
}

function problemOf(folder: string): DoctorProblem {
  const table = `[projects.${JSON.stringify(folder)}]`;
  const message = `${table} is about a folder that does not exist. If the folder appears later, the entry applies to it`;
  return { severity: 'warning', message, fix: `Remove ${table} from config.toml.` };
}
