/** Imported by programs that tests start: they end with the test that started them, even if that is killed. */
process.stdin.resume()
process.stdin.once('end', () => process.exit(70))
// It alone is no reason to go on.
if ('unref' in process.stdin && typeof process.stdin.unref === 'function') process.stdin.unref()
