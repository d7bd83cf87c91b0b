#!/usr/bin/env node
// CommonJS, by the package.json beside it: as an ES module it took ten milliseconds longer to start.
const { loadMain } = require('./load-main.js');

loadMain();
