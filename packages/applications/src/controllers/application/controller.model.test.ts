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

/** Without a change of order, which the server in memory does not follow. */
const beginningOf = <T>(list: readonly T[]): fc.Arbitrary<readonly T[]> =>
  fc.integer({ min: 0, max: list.length }).map((length) => list.slice(0, length))

/** Anything that people may write. */
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
  // As JSON has it: what is undefined is not there.
  .map((value) => JSON.parse(JSON.stringify(value)) as ApplicationSpec)

/** Lets every Deployment be rolled out, until there is nothing more to do. */
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
  'however it is described and changed, what is there is what is described, and then nothing is written',
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

/** A configured shop, and every write to it that could be its last. */
const configured: ApplicationSpec = { ...plainSpec, config: { A: '1' }, ports: [{ port: 80 }] }

test.each([0, 1, 2, 3, 4])('an answer that is lost, of write %i, loses nothing', async (lost) => {
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

test('a hundred Applications at rest cost nothing in five minutes', async () => {
  const bench = new Bench()
  await bench.start()
  for (let index = 0; index < 100; index++) await bench.create(`shop-${index}`, configured)
  await bench.clock.advance(30_000)
  await settleAll(bench)
  expect(bench.server.objects(Application).filter(({ status }) => status?.phase === 'Running')).toHaveLength(100)
  // In a crowd one status each, although it took its time: finalizer, ConfigMap, Service, Deployment, status.
  expect(bench.writes.filter((write) => !write.startsWith('create '))).toHaveLength(500)
  bench.forget()
  await bench.clock.advance(300_000)
  expect(bench.server.requests.filter(({ verb }) => verb !== 'watch')).toEqual([])
  await bench.stop()
})
