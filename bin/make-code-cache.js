// Runs the server and keeps what V8 has compiled when it ends; bin/build.js gives it a first session to serve.
const { renameSync, writeFileSync } = require('node:fs');
const { loaded, loadMain } = require('./load-main.js');

process.on('exit', () => {
  for (const { script, codeCache } of loaded.values()) {
    const temporary = `${codeCache}.${process.pid}`;
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, codeCache);
  }
});
loadMain();
