import type { Config } from '../../config/config.ts';
import type { DoctorProblem } from './doctor-check.ts';

/** The file and the line of a setting; empty if it is not in a file. */
export function settingPlace(
  config: Config,
  path: readonly string[],
): Pick<DoctorProblem, 'file' | 'line' | 'column'> {
  const { path: file, range } = config.error(path, '').location;
  return {
    ...(file === null ? {} : { file }),
    ...(range === null ? {} : { line: range.start.line, column: range.start.column }),
  };
}
