import type { Config } from '../../config/config.ts';
import { readSafetyCheck } from '../../config/mcp/read-safety-check.ts';
import { missingOfArgv } from '../../config/problems/missing-program.ts';
import { readOr } from '../../config/toml/config-error.ts';
import { type DoctorCheck, type DoctorProblem, NO_CONFIGURATION } from './doctor-check.ts';
import { settingPlace } from './setting-place.ts';

/** A program of the configuration, and the path of its setting. */
interface ConfiguredProgram {
  setting: readonly string[];
  argv: readonly string[];
  loss: string;
}

/**
 * Looks for the programs of the configuration that no other check looks for, and for the scripts
 * that they run. Starts none. `cwd`: the folder of the server.
 */
export function checkPrograms(config: Config | null, cwd: string): DoctorCheck {
  if (config === null)
    return { name: 'programs', summary: NO_CONFIGURATION, facts: {}, problems: [] };
  const programs = configuredPrograms(config);
  const problems = programs.flatMap(({ setting, argv, loss }): DoctorProblem[] => {
    const missing = missingOfArgv(argv, { env: config.env, cwd });
    if (missing === null) return [];
    const name = setting.join('.');
    const message = `${missing} of ${name} is missing or cannot be used, so ${loss}`;
    return [
      {
        severity: 'warning',
        message,
        fix: `Install it, or correct ${name} in config.toml.`,
        ...settingPlace(config, setting),
      },
    ];
  });
  const names = programs.map(({ setting }) => setting[0] ?? '');
  return {
    name: 'programs',
    summary: names.length === 0 ? 'none' : names.join(', '),
    facts: { programs: names },
    problems,
  };
}

/** Those of valid settings: the check of the configuration tells about the others. */
function configuredPrograms(config: Config): ConfiguredProgram[] {
  const notify = readOr(
    () => config.get('notify'),
    () => null,
  );
  const check = readOr(
    () => readSafetyCheck(config),
    () => null,
  );
  const programs: ConfiguredProgram[] = [];
  if (notify !== null)
    programs.push({
      setting: ['notify'],
      argv: notify,
      loss: 'nobody is notified of the ends of turns',
    });
  if (check?.type === 'command') {
    const argv = [check.command, ...check.args];
    programs.push({
      setting: ['mcp_safety_check', 'command'],
      argv,
      loss: 'the calls of MCP tools are refused',
    });
  }
  return programs;
}
