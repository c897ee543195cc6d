import { setTimeout as delay } from 'node:timers/promises'
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { ConfigMap, StatefulSet } from '@tenure/kube/kinds'
import type { ActionStep } from '@tenure/runtime'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { freePorts } from '../../cluster/free-ports.ts'
import { onEveryFloor } from '../../floors/index.ts'
import { cuttableFloor } from './cuttable-floor.ts'
import { askProbe } from './probes.ts'
import { RunningDatabases } from './support.ts'

const POSTGRES_OUTAGE_MS = 30_000
/** A leader loses its Lease after 10 s. */
const API_OUTAGE_MS = 15_000
const STEP_MS = 250
const [flavor] = postgresFlavors

describe.skipIf(flavor === undefined)('databases', () => {
  onEveryFloor(
    'An outage',
    (floor) => {
      let postgres: TestPostgres
      let operator: RunningDatabases | undefined
      let healthPort = 0

      beforeEach(async () => {
        postgres = await TestPostgres.start(flavor ?? 'system')
        ;[healthPort = 0] = await freePorts(1)
      }, 120_000)
      afterEach(async () => {
        await operator?.stop()
        await postgres.stop()
      }, 120_000)

      const readiness = () => askProbe(healthPort, '/readyz')
      const health = () => ({ enableHealthCheck: true, healthCheckPort: healthPort })

      /** Returns the reason. */
      function untilNotReady(running: RunningDatabases): Promise<string> {
        return running.until('the operator is not ready', async () => {
          const { status, text } = (await readiness()) ?? {}
          return status === 503 && text
        })
      }

      async function untilReady(running: RunningDatabases): Promise<void> {
        await running.until('the operator is ready', async () => {
          if ((await readiness())?.text === 'ready') return true
          // Watches are tried again after up to 30 s.
          await floor().pass(STEP_MS)
          return false
        })
      }

      /** Lets the outage last, in which the operator lives and is never ready. */
      async function outlast(milliseconds: number): Promise<void> {
        const { clock } = floor()
        const end = clock.monotonic() + milliseconds
        while (clock.monotonic() < end) {
          expect((await readiness())?.status).toBe(503)
          expect(await askProbe(healthPort, '/healthz')).toEqual({ status: 200, text: 'ok' })
          await floor().pass(STEP_MS)
          // Where time is virtual, sockets need real time.
          await delay(1)
        }
      }

      test('work waits for PostgreSQL that is away for 30 s, and is done once afterwards', async () => {
        const release = Promise.withResolvers<void>()
        const holdBegun = async ({ action, phase }: ActionStep): Promise<void> => {
          const isApply = action.type === 'apply' && action.kind === StatefulSet
          if (isApply && phase === 'before' && action.object.metadata?.name === 'begun') await release.promise
        }
        operator = await RunningDatabases.start(floor(), postgres, { settings: health(), onStep: holdBegun })
        const running = operator
        const settled = await running.insert('settled', 'redis')
        await running.untilStatus(settled, 'active')
        await untilReady(running)
        const begun = await running.insert('begun', 'redis')
        await running.until('its job runs', async () => (await running.jobList(begun)).includes('create running'))

        await postgres.halt()
        expect(await untilNotReady(running)).toMatch(/^database: The connection to PostgreSQL failed/)
        release.resolve()
        await floor().api.delete(ConfigMap, { name: 'settled-config', namespace: running.namespace })
        await outlast(POSTGRES_OUTAGE_MS)
        await postgres.start()

        await untilReady(running)
        await running.untilStatus(begun, 'active')
        await running.until('the drift is repaired', async () =>
          (await running.jobList(settled)).includes('update completed'),
        )
        expect(await running.exists(ConfigMap, 'settled-config')).toBe(true)
        expect(await running.jobList(begun)).toEqual(['create completed'])
        expect(await running.actions(begun)).toEqual(['resource.created'])
        expect(await running.jobList(settled)).toEqual(['create completed', 'update completed'])
        expect(await running.actions(settled)).toEqual(['resource.created', 'resource.updated'])
        // The platform is heard again.
        await running.configure(settled, { replicas: 2 })
        await running.untilStatus(settled, 'active')
      })

      test('work waits for an API server that is not reached, and is done once afterwards', async () => {
        const cuttable = await cuttableFloor(floor())
        onTestFinished(() => cuttable.close())
        const leaderElectionNamespace = await floor().namespace('outage')
        operator = await RunningDatabases.start(cuttable.floor, postgres, {
          isElected: true,
          settings: { ...health(), leaderElectionNamespace },
        })
        const running = operator
        const settled = await running.insert('settled', 'redis')
        await running.untilStatus(settled, 'active')
        await untilReady(running)
        const isLeader = async () =>
          (await running.metrics.expose()).text.includes(
            'leader_election_master_status{name="nest-controller-leader"} 1',
          )
        expect(await isLeader()).toBe(true)

        cuttable.cut()
        expect(await untilNotReady(running)).toMatch(/^informers: the watch of \w+ is down: /)
        await running.configure(settled, { replicas: 2 })
        const late = await running.insert('late', 'redis')
        await outlast(API_OUTAGE_MS)
        expect(await isLeader()).toBe(false)
        expect((await running.statefulSet('settled')).spec?.replicas).toBe(1)
        cuttable.mend()

        await untilReady(running)
        for (const id of [settled, late]) await running.untilStatus(id, 'active')
        expect((await running.statefulSet('settled')).spec?.replicas).toBe(2)
        expect(await running.jobList(settled)).toEqual(['create completed', 'scale completed'])
        expect(await running.actions(settled)).toEqual(['resource.created', 'resource.scaled'])
        expect(await running.jobList(late)).toEqual(['create completed'])
        expect(await running.actions(late)).toEqual(['resource.created'])
      })
    },
    { only: ['in process', 'cluster'] },
  )
})
