import type { ThreadItem } from '../protocol/generated/types.ts';

/** Whether an item that was cut off shows anything: one that is only text, and has none, does not. */
export function isBlank(item: ThreadItem): boolean {
  return (item.type === 'agentMessage' || item.type === 'plan') && item.text === '';
}

/**
 * An item that was cut off, as it is shown from then on: never in progress. Work that has a status has failed; what is
 * only text stays as far as it came.
 */
export function settleItem(item: ThreadItem): ThreadItem {
  switch (item.type) {
    case 'commandExecution':
    case 'fileChange':
    case 'mcpToolCall':
    case 'dynamicToolCall':
    case 'collabAgentToolCall':
      return item.status === 'inProgress' ? { ...item, status: 'failed' } : item;
    default:
      return item;
  }
}
