import { ConfigMap, Pod, Secret } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { LABELS } from '../api/names.ts'
import { ClaimsFixture, LAZY_SECRET, MINUTE, NAMESPACE, type PoolFixture, TEMPLATE } from '../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pool: PoolFixture): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create({ default: pool })
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const lazyPod = (annotation: string): string => `${TEMPLATE}---
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-lazy
  annotations: {${annotation}: "true", tenure.dev/simulate-ready: 3s}
spec: {containers: [{name: a, image: b}]}
`

describe('a lazy resource', () => {
  test.each(['claim.controller/lazy-provisionning', 'claim.controller/lazy.provisionning'])(
    'with %s it is created at the hand-out, and the answer waits until it is ready',
    async (annotation) => {
      const { clock } = await setup({ count: 1, template: lazyPod(annotation) })
      const replica = await fixture.replica()
      await fixture.warm(1)
      await clock.advance(MINUTE)
      expect((await fixture.children(Pod)).map(({ metadata }) => metadata.name)).not.toContain(
        expect.stringContaining('lazy'),
      )
      expect(await fixture.children(Pod)).toHaveLength(1)
      const { id, isPreProvisioned } = await fixture.take(replica)
      expect(isPreProvisioned).toBe(true)
      const pod = await fixture.api.get(Pod, { name: `claim-${id}-lazy`, namespace: NAMESPACE })
      expect(pod.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }))
    },
  )

  test('a cold claim has it from the start', async () => {
    await setup({ template: TEMPLATE + LAZY_SECRET })
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica, { values: { user: 'ada' } })
    const { data } = await fixture.api.get(Secret, { name: `claim-${id}-user`, namespace: NAMESPACE })
    expect(Buffer.from(data?.['user'] ?? '', 'base64').toString()).toBe('ada')
  })

  test('the leader creates it if the replica that handed the claim out has died', async () => {
    const { clock } = await setup({ count: 1, template: TEMPLATE + LAZY_SECRET })
    await fixture.replica()
    const follower = await fixture.replica({
      leads: false,
      seed: 9,
      faults: ({ method, path }) => (method === 'POST' && path.includes('/secrets') ? { delay: MINUTE } : undefined),
    })
    await fixture.warm(1)
    const taking = fixture.take(follower, { ttl: MINUTE })
    taking.catch(() => undefined)
    await fixture.until(async () => (await fixture.claims()).some(({ isIdle }) => !isIdle))
    await follower.crash()
    await clock.advance(10_000)
    expect(await fixture.claims()).toHaveLength(2)
    expect((await fixture.children(Secret)).filter(({ metadata }) => metadata.name.endsWith('-user'))).toHaveLength(1)
  })
})

test.each([undefined, { user: 'ada' }])(
  'a replica that dies after any write of a hand-out with values %j leaves nothing for good, and the pool is full',
  async (values) => {
    const { clock } = await setup({ count: 1, template: TEMPLATE + LAZY_SECRET })
    await fixture.replica()
    for (let number = 1; number <= 4; number++) {
      await fixture.warm(1)
      let writes = 0
      const follower = await fixture.replica({
        leads: false,
        seed: 10 + number,
        faults: ({ method, path }) => {
          if (path.includes('watch=')) return undefined
          if (method !== 'GET') writes++
          return writes > number
            ? { isLost: true }
            : writes === number && method !== 'GET'
              ? { isResponseLost: true }
              : undefined
        },
      })
      const taking = fixture.take(follower, { values, ttl: MINUTE })
      taking.catch(() => undefined)
      await clock.advance(50)
      await follower.crash()
      await taking.catch(() => undefined)
      await clock.advance(2 * MINUTE)
      await fixture.warm(1)
      const claims = await fixture.claims()
      expect(claims.map(({ isIdle }) => isIdle)).toEqual([true])
      const names = new Set(claims.map(({ object }) => object.metadata.name))
      const children = [
        ...(await fixture.children(Pod)),
        ...(await fixture.children(Secret)),
        ...(await fixture.children(ConfigMap)),
      ]
      expect(children.filter(({ metadata }) => !names.has(metadata.labels?.[LABELS.claim] ?? ''))).toEqual([])
    }
  },
)
