// The script of the thread of the commands' proxies.
const { load } = require('./load-main.js');

load('proxy-worker.cjs');
