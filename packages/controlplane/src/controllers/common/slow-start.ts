/**
 * Runs `act` `total` times in batches of 1, 2, 4… A batch with a failure is the last one, so that an API server that
 * refuses everything does not receive a thousand requests. Returns the first failure.
 */
export async function slowStart(
  total: number,
  act: () => Promise<unknown>,
): Promise<{ done: number; error?: unknown }> {
  let done = 0
  for (let size = 1; done < total; size *= 2) {
    const batch = Math.min(size, total - done)
    const results = await Promise.allSettled(Array.from({ length: batch }, act))
    done += results.filter(({ status }) => status === 'fulfilled').length
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) return { done, error: failed.reason }
  }
  return { done }
}
