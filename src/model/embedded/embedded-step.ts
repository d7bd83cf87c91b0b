import { isObject, parsedJson } from '../../base/json-value.ts';

/**
 * One instruction in a user's message to the embedded model; docs/embedded-model.md is its manual.
 */
export type EmbeddedStep =
  | { do: 'call'; name: string; arguments: string }
  | { do: 'say'; text: string }
  | { do: 'think'; text: string }
  | { do: 'repeat'; times: number; word: string }
  | { do: 'wait'; ms: number }
  | { do: 'fail'; code: string };

const REPEAT_TIMES_MAX = 1_000_000;
const WAIT_MS_MAX = 600_000;

/** Reads the steps in a text, one per line. Other lines are ignored. */
export function readEmbeddedSteps(text: string): EmbeddedStep[] {
  return text
    .split(/\r?\n/)
    .map((line) => readStep(line.trim()))
    .filter((step) => step !== null);
}

function readStep(line: string): EmbeddedStep | null {
  const space = line.search(/\s/);
  if (space === -1) return null;
  const rest = line.slice(space).trim();
  switch (line.slice(0, space)) {
    case 'call':
      return readCall(rest);
    case 'say':
      return { do: 'say', text: rest };
    case 'think':
      return { do: 'think', text: rest };
    case 'repeat':
      return readRepeat(rest);
    case 'wait':
      return /^\d+$/.test(rest) ? { do: 'wait', ms: Math.min(Number(rest), WAIT_MS_MAX) } : null;
    case 'fail':
      return /^\w+$/.test(rest) ? { do: 'fail', code: rest } : null;
    default:
      return null;
  }
}

/** Reads `NAME {json}`; null for a sentence that only begins with "call". */
function readCall(rest: string): EmbeddedStep | null {
  const match = /^(\S+)\s+(\{.*\})$/.exec(rest);
  if (match?.[1] === undefined || match[2] === undefined || !isObject(parsedJson(match[2])))
    return null;
  return { do: 'call', name: match[1], arguments: match[2] };
}

function readRepeat(rest: string): EmbeddedStep | null {
  const match = /^(\d+)\s+(\S{1,32})$/.exec(rest);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  return { do: 'repeat', times: Math.min(Number(match[1]), REPEAT_TIMES_MAX), word: match[2] };
}
