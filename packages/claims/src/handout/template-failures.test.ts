import { Event, Secret, Service } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { ClaimsFixture, MINUTE, NAMESPACE, type PoolFixture, TEMPLATE } from '../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pools: Readonly<Record<string, PoolFixture>> = { default: {} }): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create(pools)
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const at = (name: string) => ({ name, namespace: NAMESPACE })

async function events(reason: string): Promise<readonly string[]> {
  const { items } = await fixture.api.list(Event, { namespace: NAMESPACE })
  return items.filter((event) => event.reason === reason).map(({ note = '' }) => note)
}

describe('a template that cannot be used', () => {
  test.each([
    ['fails to render', '{{ fail "no luck" }}', /no luck/],
    ['renders nothing', '# nothing', /renders no resources/],
    ['has an unknown kind', 'apiVersion: example.dev/v1\nkind: Nothing\nmetadata: {name: a}', /no such kind/],
    ['has a cluster-scoped object', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}', /cluster-scoped/],
    ['has an object without a name', 'apiVersion: v1\nkind: Pod', /has no metadata.name/],
    [
      'has the name of the Secret of the claim',
      'apiVersion: v1\nkind: Secret\nmetadata: {name: "{{ .Release.Name }}.rendered"}',
      /name of the Secret/,
    ],
    [
      'renders too much',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "{{ repeat 1000000 "x" }}"}',
      /more than 900 KiB/,
    ],
  ])(
    'a template that %s is an error to the caller and an event, and other pools go on',
    async (_, template, reason) => {
      await setup({ default: { template }, warm: { template, count: 2 }, other: { count: 1 } })
      const replica = await fixture.replica()
      const rejection = { status: 500, message: expect.stringMatching(reason) }
      await expect(fixture.take(replica)).rejects.toMatchObject(rejection)
      await expect(fixture.take(replica, { pool: 'warm' })).rejects.toMatchObject(rejection)
      expect((await fixture.take(replica, { pool: 'other' })).id).toBeDefined()
      await fixture.until(async () => (await events('TemplateFailed')).length > 1)
      const notes = await events('TemplateFailed')
      expect(notes.some((note) => note.includes('pool default ') && reason.test(note))).toBe(true)
      expect(notes.some((note) => note.includes('pool warm ') && reason.test(note))).toBe(true)
      expect((await fixture.claims()).filter(({ pool }) => pool !== 'other')).toEqual([])
    },
  )

  test('a fixed name that another claim has is an error that names it, and the other claim goes on', async () => {
    const template = 'apiVersion: v1\nkind: Secret\nmetadata: {name: fixed}\nstringData: {id: "{{ .Release.Name }}"}'
    const { clock } = await setup({ default: { template } })
    const replica = await fixture.replica()
    const first = await fixture.take(replica, { ttl: 2 * MINUTE })
    const { uid } = (await fixture.api.get(Secret, at('fixed'))).metadata
    await expect(fixture.take(replica, { ttl: 2 * MINUTE })).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('Secret fixed already exists and does not belong to this claim'),
    })
    await clock.advance(2_000)
    expect((await fixture.claims()).map(({ id }) => id)).toEqual([first.id])
    expect((await fixture.api.get(Secret, at('fixed'))).metadata.uid).toBe(uid)
    expect((await events('ClaimFailed')).join()).toContain('Secret fixed already exists')
    await fixture.whilePassing(replica.service.release(first.id))
    expect((await fixture.take(replica)).id).not.toBe(first.id)
  })

  test('a foreign object of the same name is untouched when the claim expires', async () => {
    const { clock } = await setup({
      default: {
        count: 1,
        template: `${TEMPLATE}---\napiVersion: v1\nkind: Service\nmetadata:\n  name: fixed\n  annotations: {claim.controller/lazy.provisionning: "true"}\nspec: {ports: [{port: 80}]}\n`,
      },
    })
    const replica = await fixture.replica()
    await fixture.warm(1)
    await fixture.api.create(Service, { metadata: at('fixed'), spec: { ports: [{ port: 1 }] } })
    await expect(fixture.take(replica, { ttl: MINUTE })).rejects.toMatchObject({
      message: expect.stringContaining('Service fixed already exists'),
    })
    await clock.advance(3 * MINUTE)
    expect((await fixture.claims()).filter(({ isIdle }) => !isIdle)).toEqual([])
    expect((await fixture.api.get(Service, at('fixed'))).spec?.ports?.[0]?.port).toBe(1)
  })
})
