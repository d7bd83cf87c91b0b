// The script of a thread that scales a picture. Sends null if it cannot be decoded.
const { parentPort, workerData } = require('node:worker_threads');
const { load } = require('./load-main.js');

parentPort.postMessage(
  load('scale-picture.cjs').scalePicture(workerData.picture, workerData.sideMax),
);
