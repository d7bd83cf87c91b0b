import type { NonSteerableTurnKind } from '../generated/types.ts';
import { INVALID_PARAMS, RpcError, refused } from '../rpc-error.ts';

/** `what`: the request that needs a thread without a running turn, such as "roll back". */
export function turnActive(turnId: string, what: string): RpcError {
  return refused('turn_active', `cannot ${what} while a turn is in progress: interrupt it first`, {
    turnId,
  });
}

/** For a request that begins a turn of its own. */
export function turnPending(): RpcError {
  return refused('turn_active', 'thread already has an active or pending turn');
}

export function noActiveTurnToSteer(): RpcError {
  return refused('turn_not_active', 'no active turn to steer');
}

/** The details are those of a turn's error. */
export function turnNotSteerable(turnKind: NonSteerableTurnKind): RpcError {
  const message = `cannot steer a ${turnKind} turn`;
  const details = {
    message,
    codexErrorInfo: { activeTurnNotSteerable: { turnKind } },
    additionalDetails: null,
  };
  return refused('turn_not_steerable', message, details);
}

export function noActiveTurnToInterrupt(): RpcError {
  return refused('turn_not_active', 'no active turn to interrupt');
}

export function turnMismatch(expectedTurnId: string, foundTurnId: string): RpcError {
  const text = `expected active turn id \`${expectedTurnId}\` but found \`${foundTurnId}\``;
  return refused('turn_mismatch', text, { expectedTurnId, foundTurnId });
}

/** For thread/inject_items. */
export function tooManyItems(itemsMax: number, itemsFound: number): RpcError {
  const text = `items must have at most ${itemsMax} entries, not ${itemsFound}: inject them in several requests`;
  return refused('too_many_items', text, { maxItems: itemsMax, actualItems: itemsFound });
}

/** `problem` says which of the item's fields is wrong. */
export function invalidItem(index: number, problem: string): RpcError {
  return refused('invalid_item', `items[${index}] is not a valid response item: ${problem}`, {
    index,
  });
}

export function emptyInput(): RpcError {
  return refused('empty_input', 'input must not be empty');
}

/** Images are not fetched. */
export function remoteImage(): RpcError {
  return refused(
    'remote_image',
    'remote images (http and https URLs) are not supported: send the image as a data URL, or a localImage',
  );
}

/** Both numbers count characters of text in all parts of the input. */
export function inputTooLarge(charsMax: number, charsFound: number): RpcError {
  return new RpcError(
    INVALID_PARAMS,
    `Input exceeds the maximum length of ${charsMax} characters.`,
    {
      code: 'input_too_large',
      input_error_code: 'input_too_large',
      max_chars: charsMax,
      actual_chars: charsFound,
    },
  );
}
