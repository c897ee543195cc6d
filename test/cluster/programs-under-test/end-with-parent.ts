/** Imported by programs that tests start: they exit with the test, even if the test is killed. */
process.stdin.resume()
process.stdin.once('end', () => process.exit(70))
// Standard input must not keep the process alive.
if ('unref' in process.stdin && typeof process.stdin.unref === 'function') process.stdin.unref()
