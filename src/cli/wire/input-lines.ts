import { LineSplitter } from '../../base/text/line-splitter.ts';
import { LINE_BYTES_MAX } from '../../protocol/line-bytes-max.ts';

/** A line of the input, with its number from 1. */
export interface InputLine {
  number: number;
  text: string;
  /** Why the line cannot be used. Null: it can. */
  problem: string | null;
}

/** The lines of the input as they come. The last one needs no line end. */
export async function* inputLines(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<InputLine> {
  let number = 0;
  const waiting: InputLine[] = [];
  const lines = new LineSplitter(
    (text) => waiting.push({ number: ++number, text, problem: null }),
    (reason) =>
      waiting.push({
        number: ++number,
        text: '',
        problem: reason === 'too_long' ? 'the line is too long' : 'it is not UTF-8',
      }),
    LINE_BYTES_MAX,
  );
  for await (const chunk of chunks) {
    lines.push(chunk);
    yield* waiting.splice(0);
  }
  lines.end();
  yield* waiting;
}
