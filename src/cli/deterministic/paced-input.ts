import { Readable } from 'node:stream';
import { createSplitter, type Framing, frame } from '../../transport/framing.ts';

export interface PacedInput {
  from: Readable;
  framing: Framing;
  /** Resolves when the server has done everything that it can do without the next message. `isLast`: there is none. */
  settle: (options: { isLast: boolean }) => Promise<void>;
}

/** Passes messages on one by one, each when the server has settled. So nothing depends on how fast they come. */
export function pacedInput(options: PacedInput): Readable {
  return Readable.from(paced(options), { objectMode: false });
}

async function* paced({ from, framing, settle }: PacedInput): AsyncGenerator<Buffer> {
  const texts: string[] = [];
  const take = (text: string) => void texts.push(text);
  const splitter = createSplitter(framing, take, () => {});
  for await (const chunk of from) {
    splitter.push(chunk as Buffer);
    for (const text of texts.splice(0)) {
      yield Buffer.from(frame(framing, [text]));
      await settle({ isLast: false });
    }
  }
  splitter.end();
  for (const text of texts) {
    yield Buffer.from(frame(framing, [text]));
    await settle({ isLast: false });
  }
  await settle({ isLast: true });
}
