import type { ResponseItem } from '../../protocol/generated/types.ts';
import { contextMessage, escapeTags } from './context-message.ts';

/**
 * Gives the model the plan that the user has approved. `path`: a file that has the plan too; null:
 * none.
 */
export function approvedPlanMessage(markdown: string, path: string | null): ResponseItem {
  const file = path === null ? '' : `The plan is also in the file ${escapeTags(path)}.\n`;
  const begin =
    'The user has approved this plan for the next turn, which asks for it. If the user asks for something else first, it is no longer approved. It replaces all plans that were approved before:';
  return contextMessage('user', [
    `<approved_plan>\n${begin}\n\n${markdown}\n${file}</approved_plan>`,
  ]);
}
