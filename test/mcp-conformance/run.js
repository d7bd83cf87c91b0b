// Runs the client scenarios of @modelcontextprotocol/conformance against the built heddle: those
// that each revision of the MCP requires. The suite needs Node 22, which the npm package `node`
// brings. Arguments: names of scenarios, to run only these.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const PACKAGES = ['@modelcontextprotocol/conformance@0.2.0-alpha.12', 'node@22'];
const REVISIONS = ['2025-11-25', '2026-07-28'];
/** A busy machine is slow to start so many processes. */
const TIMEOUT_MS = 90_000;
const AT_ONCE = Math.max(1, Math.floor(cpus().length / 2));

const packages = join(import.meta.dirname, '..', '..', '.cache', 'mcp-conformance');
const suite = join(packages, 'node_modules', '@modelcontextprotocol', 'conformance');
const node = join(packages, 'node_modules', 'node', 'bin', 'node');
const client = join(import.meta.dirname, 'heddle-client.js');
const chosen = process.argv.slice(2);

function run(command, args, options = {}) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    child.stdout.on('data', (part) => (output += String(part)));
    child.stderr.on('data', (part) => (output += String(part)));
    child.on('error', (error) => resolve({ code: -1, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

async function install() {
  if (existsSync(node) && existsSync(suite)) return;
  mkdirSync(packages, { recursive: true });
  writeFileSync(
    join(packages, 'package.json'),
    JSON.stringify({ private: true, allowScripts: { node: true } }),
  );
  const { code, output } = await run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--no-save', ...PACKAGES],
    { cwd: packages },
  );
  if (code !== 0) throw new Error(`the suite cannot be installed:\n${output}`);
}

/** The scenarios under `client:`, which are those that count. */
function required(revision) {
  const lines = readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8').split('\n');
  const start = lines.indexOf('client:');
  const end = lines.findIndex((line, index) => index > start && /^\w/.test(line));
  return lines.slice(start + 1, end).flatMap((line) => /^ {2}- (\S+)/.exec(line)?.[1] ?? []);
}

async function passes(revision, scenario) {
  const command = `${node} ${client}`;
  const args = [
    join(suite, 'dist', 'index.js'),
    'client',
    '--command',
    command,
    '--scenario',
    scenario,
    '--spec-version',
    revision,
  ];
  const env = { ...process.env, HEDDLE_NODE: process.execPath };
  const { code, output } = await run(
    node,
    [...args, '--timeout', String(TIMEOUT_MS), '--verbose'],
    { cwd: packages, env },
  );
  process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${revision} ${scenario}\n`);
  if (code !== 0) process.stdout.write(`${output.slice(-6_000).replace(/^/gm, '     ')}\n`);
  return code === 0;
}

await install();
const wanted = REVISIONS.flatMap((revision) =>
  required(revision).map((scenario) => ({ revision, scenario })),
);
const all = wanted.filter(({ scenario }) => chosen.length === 0 || chosen.includes(scenario));
const passed = new Map(REVISIONS.map((revision) => [revision, 0]));
const rest = [...all];
async function work() {
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    const { revision, scenario } = next;
    if (await passes(revision, scenario)) passed.set(revision, (passed.get(revision) ?? 0) + 1);
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
for (const revision of REVISIONS) {
  process.stdout.write(
    `${revision}: ${passed.get(revision)} of ${all.filter((each) => each.revision === revision).length} passed\n`,
  );
}
process.exitCode =
  [...passed.values()].reduce((sum, count) => sum + count, 0) === all.length && all.length > 0
    ? 0
    : 1;
