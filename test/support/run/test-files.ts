import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TAGGED = /@module-tag (?:slow|seeded)\b|tags: '(?:slow|seeded)'/;
const MOCKING = /\bvi\.(?:mock|doMock)\(/;

/** The test files without a test that has the tag `slow` or `seeded`. */
export function untaggedFiles(): string[] {
  return testFiles((text) => !TAGGED.test(text));
}

/** The test files that replace modules. */
export function mockingFiles(): string[] {
  return testFiles((text) => MOCKING.test(text));
}

function testFiles(isMeant: (text: string) => boolean): string[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.test.ts'),
  );
  return files
    .map((name) => join('test', name))
    .filter((file) => isMeant(readFileSync(file, 'utf8')));
}
