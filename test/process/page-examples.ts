import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../docs/pages.ts';
import { EXECUTABLE, environment, type Place, place } from './support.ts';

/** A command of a block, and the lines that follow it. */
interface Example {
  command: string;
  output: string[];
}

/** The lines of each block of a page in this language. */
export function linesOf(page: string, language: string): string[][] {
  return blocksOf(page)
    .filter((block) => block.language === language)
    .map(({ text }) => text.trimEnd().split('\n'));
}

/**
 * A command begins with `$ heddle`, `$ answer`, … in a block, and goes on in lines with `>`. Output
 * that begins with `$ /` is of heddle.
 */
export function examplesIn(lines: readonly string[]): Example[] {
  const examples: Example[] = [];
  for (const line of lines) {
    const last = examples.at(-1);
    if (/^\$ (?!\/)/.test(line)) examples.push({ command: line.slice(2), output: [] });
    else if (line.startsWith('> ') && last?.output.length === 0)
      last.command += `\n${line.slice(2)}`;
    else last?.output.push(line);
  }
  return examples;
}

/** Every `…` stands for anything. */
export function pattern(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

/** A place with `heddle` in its path. */
export function shellPlace(): { where: Place; env: Record<string, string> } {
  const where = place();
  const folder = join(where.home, 'bin');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'heddle'),
    `#!/bin/sh\nexec "${process.execPath}" "${EXECUTABLE}" "$@"\n`,
  );
  chmodSync(join(folder, 'heddle'), 0o755);
  const given = environment(where);
  return { where, env: { ...given, PATH: `${folder}:${given.PATH}` } };
}
