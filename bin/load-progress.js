// The script of the thread that shows progress.
const { load } = require('./load-main.js');

load('progress-worker.cjs');
