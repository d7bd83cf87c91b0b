import { isObject, parsedJson } from '../../base/json-value.ts';

/** What a user's text asks the embedded model to do; docs/scripted-model.md is its manual. */
export type EmbeddedStep =
  | { do: 'call'; name: string; arguments: string }
  | { do: 'say'; text: string }
  | { do: 'think'; text: string }
  | { do: 'repeat'; times: number; word: string }
  | { do: 'wait'; ms: number }
  | { do: 'fail'; code: string };

const REPEAT_TIMES_MAX = 1_000_000;
const WAIT_MS_MAX = 600_000;

/** The steps in a text, one a line. Lines that ask for nothing are left out. */
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

/** `NAME {json}`; a sentence that happens to begin with "call" is none. */
function readCall(rest: string): EmbeddedStep | null {
  const match = /^(\S+)\s+(\{.*\})$/.exec(rest);
  if (match?.[1] === undefined || match[2] === undefined || !isObject(parsedJson(match[2]))) return null;
  return { do: 'call', name: match[1], arguments: match[2] };
}

function readRepeat(rest: string): EmbeddedStep | null {
  const match = /^(\d+)\s+(\S{1,32})$/.exec(rest);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  return { do: 'repeat', times: Math.min(Number(match[1]), REPEAT_TIMES_MAX), word: match[2] };
}
