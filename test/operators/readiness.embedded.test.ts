import { setTimeout as delay } from 'node:timers/promises'
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { TestControlPlane } from '@tenure/controlplane/testing'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { type ManagerContext, type Operator, runOperators } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clusterOperators, operators } from '../../packages/tenure/src/loaded-operators.ts'

/** Settings that an operator requires. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  leases: { group: '', version: 'v1', kind: 'ConfigMap' },
}

const STEP_MS = 250
/** Real milliseconds per step for an operator with a database, which answers in real time. */
const DATABASE_STEP_MS = 5

const [flavor] = postgresFlavors
let postgres: TestPostgres | undefined

beforeAll(async () => {
  if (flavor) postgres = await TestPostgres.start(flavor)
}, 60_000)
afterAll(() => postgres?.stop())

/** The settings of a new database, for an operator that needs one. */
async function databaseSettings(): Promise<Readonly<Record<string, unknown>>> {
  const address = await postgres?.createDatabase()
  if (!address) return {}
  const { database, host, password, port, user } = address
  return { dbHost: host, dbPort: port, dbUser: user, dbPassword: password?.reveal(), dbName: database }
}

const needsDatabase = ({ config }: Operator): boolean => config['dbHost'] !== undefined
const testable = [...operators, ...clusterOperators].filter(
  (operator) => flavor !== undefined || !needsDatabase(operator),
)

test.each(testable.map((operator) => [operator.name, operator] as const))(
  'the readiness of %s turns red within 15 s of a cut watch whose relist fails, and green again',
  async (name, operator) => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1))
    const server = await TestControlPlane.start({ clock })
    let context: ManagerContext | undefined
    const observed: Operator = {
      ...operator,
      setup(given) {
        context = given
        return operator.setup(given)
      },
    }
    const end = new AbortController()
    const isSlow = needsDatabase(operator)
    const settings = {
      ...defaultValues(operator.config),
      ...REQUIRED[name],
      ...(isSlow && (await databaseSettings())),
    }
    const ended = runOperators(
      {
        operators: [{ operator: observed, settings }],
        transport: server.transport,
        clock,
        random: seededRandom(1),
        leaderElection: false,
        webhooks: 'none',
      },
      end.signal,
    )
    const problems = async (): Promise<readonly string[]> =>
      ((await context?.probes.check('ready')) ?? [{ problem: 'not set up' }]).flatMap(({ problem }) => problem ?? [])
    /** Milliseconds until the readiness is as wanted; at most a minute. */
    const until = async (isReady: boolean): Promise<number> => {
      for (let passed = 0; passed <= 60_000; passed += STEP_MS) {
        if (((await problems()).length === 0) === isReady) return passed
        await clock.advance(STEP_MS)
        if (isSlow) await delay(DATABASE_STEP_MS)
      }
      return Infinity
    }
    expect(await until(true)).toBeLessThan(Infinity)
    await clock.advance(5_000)

    const mend = server.intercept(({ verb }) => (verb === 'list' || verb === 'watch' ? 'drop' : undefined))
    server.dropWatches()
    expect(await until(false)).toBeLessThanOrEqual(15_000)
    mend()
    expect(await until(true)).toBeLessThan(Infinity)

    end.abort()
    if (isSlow) await advanceUntilSettled(clock, ended)
    else await clock.advanceUntil(() => server.openWatches === 0)
    await clock.advance(60_000)
    await ended
    expect(server.openWatches).toBe(0)
    await server.stop()
  },
)

/** Lets time pass while connections close, which takes real time. */
async function advanceUntilSettled(clock: VirtualClock, promise: Promise<unknown>): Promise<void> {
  const settled = new AbortController()
  const settle = (): void => settled.abort()
  promise.then(settle, settle)
  while (!settled.signal.aborted) {
    await clock.advance(STEP_MS)
    await delay(DATABASE_STEP_MS)
  }
}
