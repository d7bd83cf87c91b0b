// Runs the server, and stores the code that V8 has compiled when the server ends. bin/build.js sends it a short session.
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
