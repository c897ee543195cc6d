/**
 * Does something `total` times in batches that double: 1, 2, 4… As soon as a batch has a failure no other is begun, so
 * that a server which refuses everything is not asked a thousand times. Gives the first failure, if there was one.
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
