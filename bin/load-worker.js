// The script of every worker: runs the built script that its argument names.
const { load } = require('./load-main.js');

load(`${process.argv[2]}.cjs`);
