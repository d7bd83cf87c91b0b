import { dirname, posix } from 'node:path';
import { sum } from '../support/sum.ts';
import { collaborators, membersOf, namesTwice } from './code-shape.ts';
import { wideLines } from './line-shape.ts';
import { readSource, type SourceFile } from './read-source.ts';
import { importersOf, importsIn, roomOrders, tiedSiblings, tiedToParents } from './room-shape.ts';

// The figures that keep the code readable, with their limits: `npm run check:shape`. A limit only
// goes down. What is over its limit is listed, and the exit code is then 1.

const root = dirname(dirname(import.meta.dirname));
const all = readSource(root, ['src', 'schema', 'bin', 'examples', 'test']);
const src = all.filter(({ path }) => path.startsWith('src/'));
const imports = importsIn(src);
const linesOf = ({ text }: SourceFile) => text.split('\n').length - 1;
const byLines = all
  .filter(({ path }) => !path.startsWith('test/'))
  .sort((one, other) => linesOf(other) - linesOf(one));
const crowded = collaborators(src)
  .filter(({ members }) => members.length > 12)
  .map(({ name, path, members }) => `${path}: ${name} has ${members.length}`);
const matching = (pattern: RegExp) => src.filter(({ path }) => pattern.test(path));
const RUNS_PARTS =
  /^src\/(?:services\/turn-part-list|agent\/(?:threads\/create-thread-context|turn\/turn-(?:events|parts?|part-kind)))\.ts$/;
/** The mechanism of workers, and both sides of each worker, without what the work itself needs. */
const USES_WORKERS =
  /^src\/(?:base\/worker\/|search\/worker\/(?:index-worker|search\.worker)|tools\/command\/network\/worker\/|mcp\/mcp-host-client|mcp\/host\/mcp\.worker|store\/sqlite\/worker\/(?:remote-store|store\.worker|store-call)|cli\/progress\/(?:remote-progress|progress\.worker)|model\/pictures\/(?:scale-in-worker|picture\.worker)|config\/writing\/(?:edit-in-worker|toml-editor\.worker))/;

interface Figure {
  name: string;
  limit: number;
  /** What is counted, or a number. */
  found: readonly string[] | number;
}

const FIGURES: readonly Figure[] = [
  { name: 'lines wider than 100 columns', limit: 0, found: all.flatMap(wideLines) },
  {
    name: 'files longer than 300 lines',
    limit: 0,
    found: byLines
      .filter((file) => linesOf(file) > 300)
      .map((file) => `${file.path}: ${linesOf(file)}`),
  },
  { name: 'interfaces of more than 12 collaborators', limit: 0, found: crowded },
  {
    name: 'interfaces of collaborators that are called Deps',
    limit: 61,
    found: collaborators(src)
      .filter(({ name }) => name.endsWith('Deps'))
      .map(({ name }) => name),
  },
  { name: 'moments of a part', limit: 16, found: membersOf(src, 'TurnPart').length },
  {
    name: 'lines of the files that run parts',
    limit: 630,
    found: sum(matching(RUNS_PARTS).map(linesOf)),
  },
  ...(
    [
      ['MCP', ['src/agent/mcp', 'src/mcp'], 6],
      ['sub-agents', ['src/agent/sub-agents'], 2],
      ['hooks', ['src/agent/hooks', 'src/hooks'], 3],
      ['guardian', ['src/agent/guardian'], 3],
    ] as const
  ).map(([name, rooms, limit]) => ({
    name: `files outside that import ${name}`,
    limit,
    found: importersOf(rooms, imports),
  })),
  {
    name: 'files at the root of the agent',
    limit: 8,
    found: src.map(({ path }) => path).filter((path) => posix.dirname(path) === 'src/agent'),
  },
  {
    name: 'pairs of siblings that import each other',
    limit: 0,
    found: tiedSiblings(
      [...roomOrders(root).keys()].map((room) => `src/${room}`),
      imports,
    ),
  },
  {
    name: 'pairs of a folder and its parent that import each other',
    limit: 16,
    found: tiedToParents(imports),
  },
  {
    name: 'files that start a worker',
    limit: 1,
    found: src.filter(({ text }) => /\bnew Worker\(/.test(text)).map(({ path }) => path),
  },
  {
    name: 'files that yield to the event loop by themselves',
    limit: 20,
    found: src
      .filter(({ path }) => !/^src\/base\/(?:event-loop-yield|in-slices)\.ts$/.test(path))
      .filter(({ text }) => /\.(?:worked|yielded)\(/.test(text))
      .map(({ path }) => path),
  },
  {
    name: 'lines of the mechanism of workers',
    limit: 495,
    found: sum(matching(/^src\/base\/worker\//).map(linesOf)),
  },
  {
    name: 'lines of the files through which workers are used',
    limit: 1802,
    found: sum(matching(USES_WORKERS).map(linesOf)),
  },
  { name: 'names that several files export', limit: 0, found: namesTwice(src) },
];

for (const { name, limit, found } of FIGURES) {
  const count = typeof found === 'number' ? found : found.length;
  console.log(
    `${count > limit ? 'FAIL' : 'ok  '} ${String(count).padStart(4)} of ${String(limit).padStart(4)} ${name}`,
  );
  if (count <= limit) continue;
  process.exitCode = 1;
  if (typeof found !== 'number') for (const one of found) console.log(`       ${one}`);
}
