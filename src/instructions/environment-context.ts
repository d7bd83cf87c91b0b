import { basename } from 'node:path';
import type { Env } from '../config/config.ts';
import { escapeTags } from './message.ts';

/** Where the model's commands run. */
export interface Environment {
  /** Absolute. */
  cwd: string;
  shell: string;
  /** Of the day, in UTC: 2026-01-31. */
  date: string;
}

/** Describes the surroundings of a turn. `nowMs` is Unix milliseconds. */
export function describeEnvironment({ cwd, env, nowMs }: { cwd: string; env: Env; nowMs: number }): Environment {
  const shell = basename(env.SHELL ?? '');
  return { cwd, shell: /^\w+$/.test(shell) ? shell : 'sh', date: new Date(nowMs).toISOString().slice(0, 10) };
}

export function environmentText({ cwd, shell, date }: Environment): string {
  return `<environment_context>
  <cwd>${escapeTags(cwd)}</cwd>
  <shell>${escapeTags(shell)}</shell>
  <date>${escapeTags(date)}</date>
</environment_context>`;
}
