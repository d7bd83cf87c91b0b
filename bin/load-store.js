// The script of the store's thread.
const { load } = require('./load-main.js');

load('store-worker.cjs');
