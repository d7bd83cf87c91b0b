import { resolve } from 'node:path';
import type { Command, Generator } from '../command-line/command.ts';
import { generateJsonSchema } from './generate-json-schema.ts';
import { generateTs } from './generate-ts.ts';

const GENERATORS: Record<
  Generator,
  (options: { schemaDir: string; outDir: string; experimental: boolean }) => void
> = {
  'generate-json-schema': generateJsonSchema,
  'generate-ts': generateTs,
};

/**
 * Writes the protocol to the folder that the command names. `schemaDir`: the folder with the
 * schemas.
 */
export function runGenerator(
  { generator, out, experimental }: Extract<Command, { run: 'generate' }>,
  schemaDir: string,
): void {
  GENERATORS[generator]({ schemaDir, outDir: resolve(out), experimental });
}
