/** The end of a message that says what to do. */
const AGAIN = 'then run the same command again';

/** On stderr: stdout belongs to the program that runs after the setup. */
function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}

/** Ends the setup. The text says what to do. `output`: that of the command which failed. */
function fail(text, output = '') {
  if (output !== '') process.stderr.write(`${output}\n`);
  say(text);
  process.exit(1);
}

module.exports = { AGAIN, fail, say };
