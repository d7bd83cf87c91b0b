// Preloaded: kills this process with SIGKILL before its call number HEDDLE_KILL_AT of a function
// that changes files.
const fs = require('node:fs');

const NAMES = [
  'renameSync',
  'rmSync',
  'linkSync',
  'copyFileSync',
  'openSync',
  'fsyncSync',
  'closeSync',
  'ftruncateSync',
  'mkdirSync',
];
const killAt = Number(process.env.HEDDLE_KILL_AT);
let calls = 0;

for (const name of NAMES) {
  const call = fs[name];
  fs[name] = (...args) => {
    if (isOfStore(args[0]) && ++calls === killAt) process.kill(process.pid, 'SIGKILL');
    return call(...args);
  };
}

function isOfStore(target) {
  return typeof target === 'number' || String(target).startsWith(String(process.env.HEDDLE_PLACE));
}
