import type { Importer } from './found.ts';
import { isOccupied, putNewFile } from './put-new-file.ts';
import { readSource } from './read-source.ts';

/** The most bytes of instructions that are taken. heddle reads no more of AGENTS.md either. */
const INSTRUCTIONS_BYTES_MAX = 1024 * 1024;

/** CLAUDE.md, which becomes AGENTS.md. */
export const agentsMdImporter: Importer = {
  itemType: 'AGENTS_MD',
  details: null,
  async look(scope) {
    const { source, target } = scope.agentsMd;
    const text = await readSource(source, scope.root, INSTRUCTIONS_BYTES_MAX);
    if (text === null || text.trim() === '') return null;
    const description = `Migrate ${source} to ${target}`;
    const nothing = {
      description,
      names: [],
      take: () => Promise.resolve({ taken: [], refused: [] }),
    };
    if (isOccupied(target)) {
      // A link to the other file is a common way to have one file for several agents.
      const isSame =
        (await readSource(target, scope.cwd ?? '/', INSTRUCTIONS_BYTES_MAX).catch(() => null)) ===
        text;
      const message = `${target} exists already, and was not changed`;
      return { ...nothing, refused: isSame ? [] : [{ source, message, failureStage: 'write' }] };
    }
    return {
      description,
      names: [source],
      refused: [],
      async take() {
        await putNewFile(target, text, scope);
        return { taken: [{ source, target, title: null }], refused: [] };
      },
    };
  },
};
