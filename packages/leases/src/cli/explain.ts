import { TenureError } from '@tenure/kube'
import { durationInWords, fromNow } from '@tenure/runtime/cli'
import { formatTime } from '../api/time.ts'
import { readTerms } from '../changes/terms.ts'
import type { LeaseCliContext } from './context.ts'

/** Explains a TTL or a time, or why it is invalid; returns false if it is. */
export function explainTerms({ clock, write }: Pick<LeaseCliContext, 'clock' | 'write'>, text: string): boolean {
  const now = clock.now()
  try {
    const terms = readTerms(text, now)
    switch (terms.type) {
      case 'forever':
        write('It never expires.')
        break
      case 'time':
        write(`A time: the lease ends at ${formatTime(terms.end)} (${fromNow(terms.end, now)}).`)
        break
      case 'ttl':
        write(`${durationInWords(terms.milliseconds)} (${terms.milliseconds / 1_000} s).`)
        write(`A lease that starts now ends at ${formatTime(terms.end)}.`)
    }
    return true
  } catch (error) {
    if (!(error instanceof TenureError)) throw error
    write(`Refused. ${error.message}`)
    return false
  }
}
