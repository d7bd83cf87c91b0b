// The script of a thread that edits the text of config.toml.
const { parentPort, workerData } = require('node:worker_threads');
const { load } = require('./load-main.js');

parentPort.postMessage(load('edit-toml.cjs').editToml(workerData.text, workerData.edits));
