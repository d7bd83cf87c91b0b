// The script of the thread that speaks with MCP servers.
const { load } = require('./load-main.js');

load('mcp-worker.cjs');
