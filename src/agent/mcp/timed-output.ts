import type { FunctionCallOutputBody } from '../../protocol/generated/types.ts';

/** The output of a call for the model, with the time that it took. */
export function timedOutput(
  output: FunctionCallOutputBody,
  wallMs: number,
): FunctionCallOutputBody {
  const head = `Wall time: ${(wallMs / 1000).toFixed(4)} seconds\nOutput:`;
  return typeof output === 'string'
    ? `${head}\n${output}`
    : [{ type: 'input_text', text: head }, ...output];
}

/** The output of a failed call for the model. */
export function failureFor(message: string, wallMs: number): FunctionCallOutputBody {
  return timedOutput([{ type: 'input_text', text: message }], wallMs);
}
