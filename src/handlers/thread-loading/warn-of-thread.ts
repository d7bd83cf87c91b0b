import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { projectProblems, requestProblems } from '../../config/problems/config-warnings.ts';
import { policyReads } from '../../policy/policy-reads.ts';
import type { Caller } from '../requested/method.ts';
import type { ThreadServices } from './thread-services.ts';

const NAMES_LENGTH_MAX = 300;

/**
 * Warns the caller if the thread has another model or other settings than it was asked for, about
 * problems of the request's configuration and files of the thread's project that have no effect
 * (settings that are ignored or that the user has not trusted, instruction files that are links out
 * of the project), and about skills that are left out or that the model does not get a description
 * of.
 */
export function warnOfThread(
  { clients }: ThreadServices,
  { id, configuration }: LoadedThread,
  caller: Caller,
): void {
  const { config, instructions, warnings } = configuration;
  const ofRequest = requestProblems(config, policyReads).filter(
    ({ warning }) => !warnings.some((told) => told.includes(warning.summary)),
  );
  const messages = [
    ...warnings,
    ...[...projectProblems(config), ...ofRequest].map(({ warning: { summary, details } }) =>
      details ? `${summary}. ${details}` : summary,
    ),
    ...instructions.leftOut.map(
      (path) => `${path} is a link that leads out of the project: it is not read as instructions.`,
    ),
    ...instructions.leftOutSkills.map(({ path, message }) => `Skills in ${path}: ${message}.`),
    ...undescribed(instructions.undescribedSkills),
  ];
  for (const message of messages)
    clients.publish({ connection: caller.id }, 'warning', { threadId: id, message });
}

function undescribed(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const shown = cutText(names.join(', '), NAMES_LENGTH_MAX);
  return [
    `The list of skills is too long. The model does not get the descriptions of ${names.length} of them: ${shown}. Switch some off.`,
  ];
}
