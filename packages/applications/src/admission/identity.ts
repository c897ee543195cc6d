import type { Clock, KubeApi, Random } from '@tenure/kube'
import { ApiError, asError, jitter, sleep } from '@tenure/kube'
import { SelfSubjectReview } from '@tenure/kube/kinds'
import type { Logger } from '@tenure/runtime'

export interface IdentityContext {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Delay before the second attempt, doubled for each later one. */
const MIN_RETRY_DELAY_MS = 500
const MAX_RETRY_DELAY_MS = 10_000
/** The API server does not offer SelfSubjectReview or does not allow it: a retry gets the same answer. */
const FINAL_STATUS_CODES: ReadonlySet<number> = new Set([400, 403, 404, 405])

/**
 * Asks the API server for the user name of this process, with retries. Undefined if the server refuses to tell. Rejects
 * only if `signal` aborts.
 */
export async function ownUsername(context: IdentityContext, signal: AbortSignal): Promise<string | undefined> {
  const { api, clock, random, log } = context
  for (let delay = MIN_RETRY_DELAY_MS; ; delay = Math.min(delay * 2, MAX_RETRY_DELAY_MS)) {
    try {
      const review = await api.create(
        SelfSubjectReview,
        { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
        { signal },
      )
      return review.status?.userInfo?.username
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ApiError && FINAL_STATUS_CODES.has(error.status)) {
        log.warn('own user name unknown, applying the image policy to writes of the HTTP API too', { error })
        return undefined
      }
      log.warn('own user name lookup failed, retrying', { error: asError(error) })
      await sleep(clock, jitter(random, delay, 0.2), signal)
    }
  }
}
