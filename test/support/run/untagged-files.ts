import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TAGGED = /@module-tag (?:slow|seeded)\b|tags: '(?:slow|seeded)'/;

/** The test files without a test that has the tag `slow` or `seeded`. */
export function untaggedFiles(): string[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  return files.map((name) => join('test', name)).filter((file) => !TAGGED.test(readFileSync(file, 'utf8')));
}
