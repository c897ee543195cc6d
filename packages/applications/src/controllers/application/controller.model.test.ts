import { Deployment, Job } from '@tenure/kube/kinds'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Application, type ApplicationSpec } from '../../api/index.ts'
import { plainSpec } from '../../testing/objects.ts'
import { at, Bench } from '../../testing/bench.ts'

const word = fc.stringMatching(/^[a-z]{1,5}$/)
const map = fc.dictionary(word, word, { maxKeys: 3 })
const amounts = fc.record(
  { cpu: fc.constantFrom(1, '500m', '1000m'), memory: fc.constantFrom('1Gi', '1024Mi') },
  { requiredKeys: [] },
)
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })

/** In one order only: the in-memory server does not follow a change of order. */
const beginningOf = <T>(list: readonly T[]): fc.Arbitrary<readonly T[]> =>
  fc.integer({ min: 0, max: list.length }).map((length) => list.slice(0, length))

/** An arbitrary valid spec. */
const spec: fc.Arbitrary<ApplicationSpec> = fc
  .record({
    replicas: fc.integer({ min: 0, max: 5 }),
    image: word,
    strategy: optional(fc.constantFrom('RollingUpdate', 'Recreate')),
    run: optional(fc.constantFrom('Always', 'Always', 'Once')),
    config: optional(map),
    podAnnotations: optional(map),
    args: optional(fc.array(word, { maxLength: 2 })),
    env: optional(beginningOf([{ name: 'A', value: '1' }, { name: 'B', value: '$(A)' }, { name: 'C' }])),
    resources: optional(fc.record({ requests: amounts, limits: amounts }, { requiredKeys: [] })),
    ports: optional(beginningOf([{ port: 80, targetPort: 8080 }, { port: 81, targetPort: 8080 }, { port: 82 }])),
    autoscaling: optional(fc.record({ minReplicas: fc.constantFrom(1, 2), maxReplicas: fc.constantFrom(3, 4) })),
    ingress: optional(fc.record({ host: word })),
    persistence: optional(fc.record({ size: fc.constantFrom('1Gi', 5), mountPath: fc.constant('/data') })),
  })
  // JSON has no undefined.
  .map((value) => JSON.parse(JSON.stringify(value)) as ApplicationSpec)

/** Rolls out every Deployment until the operator makes no more writes. */
async function settleAll(bench: Bench): Promise<void> {
  for (let before = ''; before !== bench.server.revision;) {
    before = bench.server.revision
    await bench.clock.advance(6_000)
    for (const { metadata, spec, status } of bench.server.objects(Deployment)) {
      const isDone = status?.observedGeneration === metadata.generation && status?.readyReplicas === spec?.replicas
      if (!isDone) bench.rollOut(metadata.name)
    }
    await bench.settle()
  }
}

test(
  'the children match the last of any sequence of specs, and the steady state makes no writes',
  { timeout: 60_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(spec, { minLength: 1, maxLength: 3 }), async (specs) => {
        const bench = new Bench()
        await bench.start()
        for (const next of specs) {
          await bench.write('shop', next)
          await settleAll(bench)
        }
        const last = specs.at(-1) ?? plainSpec
        const isOnce = last.run === 'Once'
        expect(bench.server.objects(Job)).toHaveLength(isOnce ? 1 : 0)
        expect(bench.server.objects(Deployment)).toHaveLength(isOnce ? 0 : 1)
        expect(bench.read('shop')?.status).toMatchObject({
          phase: isOnce ? 'Pending' : 'Running',
          observedGeneration: bench.read('shop')?.metadata.generation,
        })
        bench.forget()
        await bench.clock.advance(120_000)
        await bench.stop()
        await bench.start()
        await bench.clock.advance(120_000)
        expect(bench.writes).toEqual([])
        await bench.stop()
      }),
      { numRuns: 25 },
    )
  },
)

/** A configured shop; the test loses the response of each of its writes in turn. */
const configured: ApplicationSpec = { ...plainSpec, config: { A: '1' }, ports: [{ port: 80 }] }

test.each([0, 1, 2, 3, 4])('a lost response to write %i is recovered', async (lost) => {
  const bench = new Bench()
  let writes = 0
  bench.server.intercept(({ verb, plural }) => {
    if (!['patch', 'apply'].includes(verb) || plural === 'events') return undefined
    return writes++ === lost ? 'drop-answer' : undefined
  })
  await bench.start()
  await bench.write('shop', configured)
  await settleAll(bench)
  expect(writes).toBeGreaterThan(lost)
  expect(bench.read('shop')?.status?.phase).toBe('Running')
  expect(bench.events).toMatchObject({ Created: 1, Reconciled: 1 })
  await bench.api.delete(Application, at('shop'))
  await bench.settle()
  expect(bench.read('shop')).toBeUndefined()
  expect(bench.server.objects(Deployment)).toEqual([])
  await bench.stop()
})

test('a hundred steady Applications cost no requests in five minutes', async () => {
  const bench = new Bench()
  await bench.start()
  for (let index = 0; index < 100; index++) await bench.create(`shop-${index}`, configured)
  await bench.clock.advance(30_000)
  await settleAll(bench)
  expect(bench.server.objects(Application).filter(({ status }) => status?.phase === 'Running')).toHaveLength(100)
  // While many are pending each gets one status, however long it takes: finalizer, ConfigMap, Service, Deployment, status.
  expect(bench.writes.filter((write) => !write.startsWith('create '))).toHaveLength(500)
  bench.forget()
  await bench.clock.advance(300_000)
  expect(bench.server.requests.filter(({ verb }) => verb !== 'watch')).toEqual([])
  await bench.stop()
})
