// Run by `helm test`: asks every URL of the arguments until it answers 200, for at most a minute.
const deadline = Date.now() + 60_000

async function problemOf(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) })
    return response.ok ? undefined : `${response.status} ${await response.text()}`
  } catch (error) {
    return error.cause?.message ?? error.message
  }
}

async function check(url) {
  for (;;) {
    const problem = await problemOf(url)
    if (problem === undefined) {
      process.stdout.write(`ready: ${url}\n`)
      return
    }
    if (Date.now() > deadline) {
      process.stderr.write(`not ready: ${url}: ${problem}\n`)
      process.exitCode = 1
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

await Promise.all(process.argv.slice(1).map(check))
