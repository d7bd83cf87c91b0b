import type { ResponseItem } from '../../protocol/generated/types.ts';
import { cutOffMessage } from '../../store/cut-off-message.ts';

const WHY = {
  user: 'The user interrupted the previous turn.',
  guardian:
    'The previous turn was interrupted, because the automatic reviewer denied several actions in a row, or too many in all. Do not attempt these actions again unless the user asks for them.',
  parent: 'The agent that started you interrupted your previous turn.',
  hook: 'A hook of the user stopped the previous turn.',
  close: 'The previous turn was cut off, because its thread was closed.',
  clientGone:
    'The previous turn was cut off: the client went away, and the server ended. The user did not interrupt it.',
  shutdown:
    'The previous turn was cut off, because the server was shut down. The user did not interrupt it.',
};

/** Tells the model why the previous turn was interrupted. */
export function interruptedMessage(cause: keyof typeof WHY): ResponseItem {
  return cutOffMessage(WHY[cause]);
}
