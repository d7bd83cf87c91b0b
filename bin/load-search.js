// The script of the thread that ranks the paths of a search.
const { load } = require('./load-main.js');

load('search-worker.cjs');
