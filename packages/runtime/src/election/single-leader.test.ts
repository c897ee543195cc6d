import { VirtualClock } from '@tenure/kube/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryApi } from '../testing/memory-api.ts'
import type { RequestFault } from './candidates.testing.ts'
import { Candidate } from './candidates.testing.ts'

const who = fc.integer({ min: 0, max: 2 })

const fault: fc.Arbitrary<RequestFault> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc.record({ there: fc.integer({ min: 0, max: 4_000 }), back: fc.integer({ min: 0, max: 4_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ there: fc.integer({ min: 5_000, max: 30_000 }) }) },
  { weight: 1, arbitrary: fc.constant({ lost: true }) },
  { weight: 1, arbitrary: fc.constant({ answerLost: true }) },
)

const incident = fc.oneof(
  fc.record({
    what: fc.constant('pause' as const),
    who,
    lasts: fc.integer({ min: 100, max: 40_000 }),
    answersFirst: fc.boolean(),
  }),
  fc.record({ what: fc.constant('jump' as const), who, by: fc.integer({ min: -100_000, max: 100_000 }) }),
  fc.record({ what: fc.constant('away' as const), lasts: fc.integer({ min: 100, max: 40_000 }) }),
  fc.record({ what: fc.constant('cut' as const), who, lasts: fc.integer({ min: 8_000, max: 30_000 }) }),
  fc.record({ what: fc.constant('slow' as const), who, back: fc.integer({ min: 500, max: 8_000 }) }),
  fc.record({ what: fc.constant('kill' as const), who }),
  fc.record({ what: fc.constant('stop' as const), who, windDown: fc.constantFrom(0, 500, 20_000) }),
)

/** The default timing, and one with hardly a second between the leader's deadline and its followers'. */
const timing = fc.constantFrom(
  {},
  { leaseDuration: 10_000, renewDeadline: 9_990, retryPeriod: 2_000, requestTimeout: 9_000 },
)

const scenario = fc.record({
  timing,
  incidents: fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), incident), { maxLength: 10 }),
  faults: fc.array(fault, { minLength: 1, maxLength: 60 }),
})

test('there are never two leaders by the monotonic clock, and finally there is one', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ timing, incidents, faults }) => {
      const clock = new VirtualClock()
      const api = new MemoryApi({ clock })
      let requests = 0
      let away = false
      const everyone: Candidate[] = []
      const usual = (): RequestFault => (away ? { lost: true } : (faults[requests++] ?? {}))
      const mend = (): void => everyone.forEach(({ process }) => void (process.fault = usual))
      const join = (index: number): Candidate => {
        const candidate = new Candidate(clock, api, `c${index}-${everyone.length}`, timing)
        candidate.process.fault = usual
        everyone.push(candidate)
        return candidate.start(true)
      }
      const current = [join(0), join(1), join(2)]
      const broken: string[] = []
      let terms = 0

      const look = (): void => {
        const leading = everyone.filter((candidate) => candidate.leads)
        if (leading.length > 1) broken.push(`two lead at ${clock.monotonic()}`)
        for (const { process, term, leads, elector } of everyone) {
          // A running process whose work was not told to stop must be the leader.
          if (!process.paused && term && !term.aborted && !leads) broken.push(`works at ${clock.monotonic()}`)
          if (!process.paused && elector.isLeader() !== leads) broken.push(`misled at ${clock.monotonic()}`)
        }
        terms = Math.max(terms, leading.length)
      }
      const pass = async (time: number): Promise<void> => {
        const end = clock.monotonic() + time
        while (clock.monotonic() < end) {
          await clock.advance(Math.min(clock.untilNext ?? Infinity, end - clock.monotonic()))
          look()
        }
      }

      for (const [after, incident] of incidents) {
        await pass(after)
        const candidate = 'who' in incident ? current[incident.who] : undefined
        switch (incident.what) {
          case 'pause':
            candidate?.process.pause()
            clock.setTimer(incident.lasts, () => candidate?.process.resume(incident.answersFirst))
            break
          case 'jump':
            if (candidate) candidate.process.wallOffset += incident.by
            break
          case 'away':
            away = true
            clock.setTimer(incident.lasts, () => (away = false))
            break
          case 'cut':
            if (candidate) candidate.process.fault = () => ({ lost: true })
            clock.setTimer(incident.lasts, mend)
            break
          case 'slow':
            // Until something repairs it.
            if (candidate) candidate.process.fault = () => ({ back: incident.back })
            break
          case 'kill':
            candidate?.process.kill()
            current[incident.who] = join(incident.who)
            break
          case 'stop':
            if (candidate) candidate.windDown = incident.windDown
            candidate?.stop()
            current[incident.who] = join(incident.who)
            break
        }
        look()
      }
      faults.length = 0
      mend()
      // Every pause and absence ends, then a lease expires, and one candidate leads for good.
      await pass(100_000)
      expect(everyone.filter((candidate) => candidate.leads)).toHaveLength(1)
      await pass(30_000)
      expect(broken).toEqual([])
      expect(terms).toBe(1)
      for (const candidate of everyone) candidate.stop()
      await clock.advance(60_000)
      for (const candidate of everyone) candidate.process.kill()
    }),
    { numRuns: 60 },
  )
}, 60_000)
