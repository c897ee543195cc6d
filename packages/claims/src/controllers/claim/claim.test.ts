import { isNotFound, mergePatch, type Stored } from '@tenure/kube'
import { ConfigMap, Deployment, Event, Pod, Secret } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { DATA, LABELS } from '../../api/names.ts'
import {
  ClaimsFixture,
  LAZY_SECRET,
  MINUTE,
  NAMESPACE,
  type PoolFixture,
  TEMPLATE,
} from '../../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pools: Readonly<Record<string, PoolFixture>> = { default: {} }): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create(pools)
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const at = (name: string) => ({ name, namespace: NAMESPACE })
const claim = (id: string): Promise<Stored<ConfigMap>> => fixture.api.get(ConfigMap, at(`claim-${id}`))

async function events(reason: string): Promise<readonly string[]> {
  const { items } = await fixture.api.list(Event, { namespace: NAMESPACE })
  return items.filter((event) => event.reason === reason).map(({ note = '' }) => note)
}

describe('the writes of a claim', () => {
  test('a warm claim costs its creation, its status, its hand-out and its deletion', async () => {
    const { clock } = await setup({ default: { count: 1 } })
    const replica = await fixture.replica()
    await fixture.warm(1)
    const { id } = await fixture.take(replica)
    await clock.advance(5 * MINUTE)
    await fixture.whilePassing(replica.service.release(id))
    await clock.advance(MINUTE)
    const writes = fixture.takeWrites().filter((write) => write.endsWith(`claim-${id}`))
    expect(writes).toEqual([`POST claim-${id}`, `PATCH claim-${id}`, `PATCH claim-${id}`, `DELETE claim-${id}`])
  })

  test('a cold claim costs its creation, its status and its deletion', async () => {
    const { clock } = await setup()
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica)
    await fixture.whilePassing(replica.service.release(id))
    await clock.advance(MINUTE)
    const writes = fixture.takeWrites().filter((write) => write.endsWith(`claim-${id}`))
    expect(writes).toEqual([`POST claim-${id}`, `PATCH claim-${id}`, `DELETE claim-${id}`])
  })

  test.each([
    ['after the others', TEMPLATE + LAZY_SECRET],
    ['before the others', LAZY_SECRET.replace('---', '') + `---\n${TEMPLATE}`],
  ])(
    'a lazy resource that is ready when it exists costs no further write of the claim, declared %s',
    async (_, template) => {
      const { clock } = await setup({ default: { count: 1, template } })
      await fixture.replica()
      const follower = await fixture.replica({
        leads: false,
        seed: 9,
        // The leader sees the hand-out long before the lazy resource.
        faults: ({ method, path }) => (method === 'POST' && path.includes('/secrets') ? { delay: 1_500 } : undefined),
      })
      await fixture.warm(1)
      for (const values of [undefined, { user: 'ada' }]) {
        await fixture.warm(1)
        fixture.takeWrites()
        const { id } = await fixture.take(follower, { values })
        await clock.advance(10_000)
        const writes = fixture.takeWrites().filter((write) => write.endsWith(`claim-${id}`))
        expect(writes).toEqual([`PATCH claim-${id}`])
        expect((await claim(id)).data?.[DATA.status]).toBe('ready')
      }
    },
  )

  test('the steady state costs none', async () => {
    const { clock } = await setup({ default: { count: 3, template: TEMPLATE + LAZY_SECRET } })
    const replica = await fixture.replica()
    await fixture.warm(3)
    await fixture.take(replica, { values: { user: 'ada' }, ttl: 30 * MINUTE })
    await fixture.warm(3)
    await clock.advance(10_000)
    fixture.requests.length = 0
    await clock.advance(20 * MINUTE)
    expect(fixture.requests.filter(({ method, path }) => method !== 'GET' || !path.includes('watch='))).toEqual([])
  })
})

describe('children', () => {
  test('they are in the namespace of the claim, with its labels and owner, and labels of claims are left out', async () => {
    const template = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-x
  namespace: kube-system
  labels: {team: a, claim-controller.io/claim.id: "{{ .Release.Name }}-x", claim-controller.io/managed-by: me}
`
    await setup({ default: { template } })
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica)
    const { metadata } = await fixture.api.get(ConfigMap, at(`claim-${id}-x`))
    expect(metadata.labels).toEqual({
      team: 'a',
      [LABELS.claim]: `claim-${id}`,
      [LABELS.managedBy]: 'claim-controller',
    })
    const { uid } = (await claim(id)).metadata
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'ConfigMap', name: `claim-${id}`, uid, controller: true, blockOwnerDeletion: true },
    ])
    expect(await fixture.claims()).toHaveLength(1)
  })

  test('a ConfigMap with the labels of a claim that is not named after its id is not a claim', async () => {
    const { clock } = await setup({ default: { count: 1 } })
    const labels = { [LABELS.managedBy]: 'claim-controller', [LABELS.id]: 'other' }
    await fixture.api.create(ConfigMap, { metadata: { ...at('mine'), labels }, data: { a: 'b' } })
    const replica = await fixture.replica()
    await fixture.warm(1)
    await clock.advance(30 * MINUTE)
    const { data, metadata } = await fixture.api.get(ConfigMap, at('mine'))
    expect([data, metadata.annotations]).toEqual([{ a: 'b' }, undefined])
    expect(await replica.exposed()).toContain('claim_controller_active_claims 1')
  })

  test('a missing child is created again', async () => {
    await setup()
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica)
    await fixture.api.delete(ConfigMap, at(`claim-${id}-settings`))
    const again = await fixture.until(() =>
      fixture.api.get(ConfigMap, at(`claim-${id}-settings`)).catch((error: unknown) => {
        if (isNotFound(error)) return undefined
        throw error
      }),
    )
    expect(again?.data).toEqual({ a: 'b' })
    expect(
      (await events('CreatedResource')).filter((note) => note === `Created ConfigMap claim-${id}-settings`).length,
    ).toBeGreaterThan(0)
  })

  test('a Secret with the name of the claim is created with its own content', async () => {
    await setup({
      default: {
        template: 'apiVersion: v1\nkind: Secret\nmetadata: {name: "{{ .Release.Name }}"}\nstringData: {a: b}',
      },
    })
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica)
    const { data } = await fixture.api.get(Secret, at(`claim-${id}`))
    expect(data).toEqual({ a: Buffer.from('b').toString('base64') })
    const { items } = await fixture.api.list(ConfigMap, { namespace: NAMESPACE })
    expect(JSON.stringify(items)).not.toContain('stringData')
  })

  test('a Deployment makes the claim ready when its replicas are', async () => {
    const template = `apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  replicas: 2
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec: {containers: [{name: a, image: b}]}
`
    const { clock } = await setup({ default: { template } })
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica)
    const resources = (await claim(id)).data?.[DATA.resourcesStatus] ?? ''
    expect(JSON.parse(resources)).toEqual([
      { kind: 'Deployment', name: `claim-${id}`, namespace: NAMESPACE, ready: true, message: 'deployment ready (2/2)' },
    ])
    await fixture.whilePassing(replica.service.release(id))
    await clock.advance(2_000)
    expect(await fixture.children(Deployment)).toEqual([])
    expect((await fixture.api.list(Pod, { namespace: NAMESPACE })).items).toEqual([])
  })
})

describe('a claim whose Secret is missing', () => {
  const template = `${TEMPLATE}---\napiVersion: v1\nkind: Secret\nmetadata: {name: "{{ .Release.Name }}-s"}\nstringData: {a: b}\n`

  test('a claim that was answered fails and stays until its time', async () => {
    const { clock } = await setup({ default: { template } })
    const replica = await fixture.replica()
    const { expiresAt, id } = await fixture.take(replica, { ttl: 20 * MINUTE })
    await clock.advance(MINUTE)
    for (const name of [`claim-${id}.rendered`, `claim-${id}-s`]) await fixture.api.delete(Secret, at(name))
    await clock.advance(MINUTE)
    expect((await claim(id)).data).toMatchObject({
      [DATA.status]: 'failed',
      [DATA.message]: expect.stringContaining('Secret'),
    })
    await clock.advance(expiresAt - clock.now() - 1_000)
    expect(await fixture.claims()).toHaveLength(1)
    await clock.advance(3_000)
    expect(await fixture.claims()).toEqual([])
  })
})

describe('a claim that cannot be read', () => {
  test('it fails with the reason, is not handed out, expires at its time, and does not hold up others', async () => {
    const { clock } = await setup({ default: { count: 1 } })
    const replica = await fixture.replica()
    await fixture.warm(1)
    const [member] = await fixture.idle()
    const ref = { name: member?.object.metadata.name ?? '', namespace: NAMESPACE }
    await fixture.api.patch(ConfigMap, ref, mergePatch({ data: { [DATA.renderedResources]: '{' } }))
    const taken = await fixture.take(replica)
    expect(taken.id).not.toBe(member?.id)
    // The pool replaces it; a claimed one stays until its time.
    await fixture.until(async () => !(await fixture.claims()).some(({ id }) => id === member?.id))
    await fixture.api.patch(
      ConfigMap,
      at(`claim-${taken.id}`),
      mergePatch({ data: { [DATA.renderedResources]: '[1]' } }),
    )
    await clock.advance(1_000)
    expect((await claim(taken.id)).data).toMatchObject({
      [DATA.status]: 'failed',
      [DATA.message]: expect.stringContaining('has no valid renderedResources'),
    })
    expect(await replica.exposed()).toContain('claim_controller_active_claims')
    await clock.advance(taken.expiresAt - clock.now() - 500)
    expect((await fixture.claims()).some(({ id }) => id === taken.id)).toBe(true)
    await clock.advance(2_500)
    expect((await fixture.claims()).some(({ id }) => id === taken.id)).toBe(false)
  })
})
