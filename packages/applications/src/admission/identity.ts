import type { Clock, KubeApi, Random } from '@tenure/kube'
import { ApiError, asError, jitter, sleep } from '@tenure/kube'
import { SelfSubjectReview } from '@tenure/kube/kinds'
import type { Logger } from '@tenure/runtime'

export interface IdentitySurroundings {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const PAUSE = 500
const LONGEST_PAUSE = 10_000
/** The server does not know the question, or does not let us ask: asking again would get the same answer. */
const FINAL_ANSWERS: ReadonlySet<number> = new Set([400, 403, 404, 405])

/**
 * Asks the API server what it calls us, until it says; undefined if it never will. Rejects only if `signal` aborts.
 */
export async function ownUsername(around: IdentitySurroundings, signal: AbortSignal): Promise<string | undefined> {
  const { api, clock, random, log } = around
  for (let pause = PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    try {
      const review = await api.create(
        SelfSubjectReview,
        { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
        { signal },
      )
      return review.status?.userInfo?.username
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ApiError && FINAL_ANSWERS.has(error.status)) {
        log.warn('own user name unknown, the image policy applies to writes of the HTTP API too', { error })
        return undefined
      }
      log.warn('could not ask for the own user name, trying again', { error: asError(error) })
      await sleep(clock, jitter(random, pause, 0.2), signal)
    }
  }
}
