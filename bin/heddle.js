#!/usr/bin/env node
// CommonJS, because of the package.json in this folder: an ES module takes ten milliseconds longer
// to start.
const { loadMain } = require('./load-main.js');

loadMain();
