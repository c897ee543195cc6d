import { Deployment, Job } from '@tenure/kube/kinds'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Application, type ApplicationSpec } from '../../api/index.ts'
import { plainSpec } from '../../testing/objects.ts'
import { at, OperatorFixture } from '../../testing/operator-fixture.ts'

const word = fc.stringMatching(/^[a-z]{1,5}$/)
const map = fc.dictionary(word, word, { maxKeys: 3 })
const amounts = (...cpu: (number | string)[]) =>
  fc.record({ cpu: fc.constantFrom(...cpu), memory: fc.constantFrom('1Gi', '1024Mi') }, { requiredKeys: [] })
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })

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
    env: optional(fc.shuffledSubarray([{ name: 'A', value: '1' }, { name: 'B', value: '$(A)' }, { name: 'C' }])),
    resources: optional(
      fc.record({ requests: amounts('500m', '0.5'), limits: amounts(1, '1000m') }, { requiredKeys: [] }),
    ),
    ports: optional(
      fc.shuffledSubarray([{ port: 80, targetPort: 8080 }, { port: 81, targetPort: 8080 }, { port: 82 }]),
    ),
    autoscaling: optional(fc.record({ minReplicas: fc.constantFrom(1, 2), maxReplicas: fc.constantFrom(3, 4) })),
    ingress: optional(fc.record({ host: word })),
    persistence: optional(
      fc.record({ size: fc.constantFrom('1Gi', '1024Mi', 2 ** 30), mountPath: fc.constant('/data') }),
    ),
  })
  // The CustomResourceDefinition refuses an ingress without ports and an autoscaled run Once.
  .map(({ ingress, autoscaling, ...rest }) => ({
    ...rest,
    ...(rest.ports?.length && { ingress }),
    ...(rest.run !== 'Once' && { autoscaling }),
  }))
  // JSON has no undefined.
  .map((value) => JSON.parse(JSON.stringify(value)) as ApplicationSpec)

/** Rolls out every Deployment until the operator makes no more writes. */
async function settleAll(fixture: OperatorFixture): Promise<void> {
  for (let before = ''; before !== fixture.server.revision;) {
    before = fixture.server.revision
    await fixture.clock.advance(6_000)
    for (const { metadata, spec, status } of fixture.children(Deployment)) {
      const isDone = status?.observedGeneration === metadata.generation && status?.readyReplicas === spec?.replicas
      if (!isDone) fixture.rollOut(metadata.name)
    }
    await fixture.settle()
  }
}

test(
  'the children match the last of any sequence of specs, and the steady state makes no writes',
  { timeout: 60_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(spec, { minLength: 1, maxLength: 3 }), async (specs) => {
        const fixture = await OperatorFixture.create()
        await fixture.start()
        for (const next of specs) {
          await fixture.write('shop', next)
          await settleAll(fixture)
        }
        const last = specs.at(-1) ?? plainSpec
        const isOnce = last.run === 'Once'
        expect(fixture.children(Job)).toHaveLength(isOnce ? 1 : 0)
        expect(fixture.children(Deployment)).toHaveLength(isOnce ? 0 : 1)
        expect(fixture.read('shop')?.status).toMatchObject({
          phase: isOnce ? 'Pending' : 'Running',
          observedGeneration: fixture.read('shop')?.metadata.generation,
        })
        fixture.forget()
        await fixture.clock.advance(120_000)
        await fixture.stop()
        await fixture.start()
        await fixture.clock.advance(120_000)
        expect(fixture.writes).toEqual([])
        await fixture.close()
      }),
      { numRuns: 25 },
    )
  },
)

/** A configured shop; the test loses the response of each of its writes in turn. */
const configured: ApplicationSpec = { ...plainSpec, config: { A: '1' }, ports: [{ port: 80 }] }

test.each([0, 1, 2, 3, 4])('a lost response to write %i is recovered', async (lost) => {
  const fixture = await OperatorFixture.create()
  let writes = 0
  fixture.server.intercept(({ verb, plural }) => {
    if (!['patch', 'apply'].includes(verb) || plural === 'events') return undefined
    return writes++ === lost ? 'drop-response' : undefined
  })
  await fixture.start()
  await fixture.write('shop', configured)
  await settleAll(fixture)
  expect(writes).toBeGreaterThan(lost)
  expect(fixture.read('shop')?.status?.phase).toBe('Running')
  expect(fixture.events).toMatchObject({ Created: 1, Reconciled: 1 })
  await fixture.api.delete(Application, at('shop'))
  await fixture.settle()
  expect(fixture.read('shop')).toBeUndefined()
  expect(fixture.children(Deployment)).toEqual([])
  await fixture.close()
})

test('a hundred steady Applications cost no requests in five minutes', async () => {
  const fixture = await OperatorFixture.create()
  await fixture.start()
  for (let index = 0; index < 100; index++) await fixture.create(`shop-${index}`, configured)
  await fixture.clock.advance(30_000)
  await settleAll(fixture)
  expect(fixture.server.objects(Application).filter(({ status }) => status?.phase === 'Running')).toHaveLength(100)
  // While many are pending each gets one status, however long it takes: finalizer, ConfigMap, Service, Deployment, status.
  expect(fixture.writes.filter((write) => !write.startsWith('create '))).toHaveLength(500)
  fixture.forget()
  await fixture.clock.advance(300_000)
  expect(fixture.server.requests.filter(({ verb }) => verb !== 'watch')).toEqual([])
  await fixture.close()
})
