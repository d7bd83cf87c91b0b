import { basename } from 'node:path';
import type { Env } from '../base/env.ts';
import { escapeTags } from './messages/context-message.ts';

/** The place in which the model's commands run. */
export interface Environment {
  /** Absolute. */
  cwd: string;
  shell: string;
  /** Today's date in UTC: 2026-01-31. */
  date: string;
  /**
   * Names of the variables that commands do not get. Missing in contexts that earlier versions
   * stored.
   */
  withheld?: string[];
}

/** The maximum number of names in the text. */
const WITHHELD_MAX = 100;

/** Describes the environment of a turn. `nowMs` is in Unix milliseconds. */
export function describeEnvironment({
  cwd,
  env,
  nowMs,
  withheld,
}: EnvironmentSources): Environment {
  const shell = basename(env.SHELL ?? '');
  return {
    cwd,
    shell: /^\w+$/.test(shell) ? shell : 'sh',
    date: new Date(nowMs).toISOString().slice(0, 10),
    withheld,
  };
}

interface EnvironmentSources {
  cwd: string;
  env: Env;
  nowMs: number;
  withheld: string[];
}

export function environmentText({ cwd, shell, date, withheld = [] }: Environment): string {
  return `<environment_context>
  <cwd>${escapeTags(cwd)}</cwd>
  <shell>${escapeTags(shell)}</shell>
  <date>${escapeTags(date)}</date>${withheldText(withheld)}
</environment_context>`;
}

function withheldText(names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length > WITHHELD_MAX ? ` and ${names.length - WITHHELD_MAX} more` : '';
  const listed = names.slice(0, WITHHELD_MAX).join(', ');
  return `\n  <not_in_the_environment_of_commands>${escapeTags(listed)}${more}</not_in_the_environment_of_commands>`;
}
