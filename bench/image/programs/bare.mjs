// Bare Node: prints that it is ready, and waits.
console.log('ready')
setInterval(() => undefined, 1_000_000)
