// Runs the server and keeps what V8 has compiled of it when it ends; bin/build.js gives it a first session to serve.
const { renameSync, writeFileSync } = require('node:fs');
const { loadMain } = require('./load-main.js');

const { script, codeCache } = loadMain();
process.on('exit', () => {
  const temporary = `${codeCache}.${process.pid}`;
  writeFileSync(temporary, script.createCachedData());
  renameSync(temporary, codeCache);
});
