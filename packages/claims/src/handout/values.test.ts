import { ConfigMap, Event, Secret } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { ClaimsFixture, LAZY_SECRET, NAMESPACE, type PoolFixture, TEMPLATE } from '../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pools: Readonly<Record<string, PoolFixture>> = { default: {} }): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create(pools)
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const at = (name: string) => ({ name, namespace: NAMESPACE })

describe('values of a claim', () => {
  const SECRET_POD = `apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-lazy
  annotations: {claim.controller/lazy-provisionning: "true"}
  labels: {token: {{ .Values.claim.token | default "none" | quote }}}
spec:
  containers: [{name: a, image: b}]
`

  test.each([0, 1])(
    'values that the API server refuses appear in no event, log, status or answer (pool of %i)',
    async (count) => {
      const { clock } = await setup({ default: { count, template: `${TEMPLATE}---\n${SECRET_POD}` } })
      const replica = await fixture.replica()
      if (count > 0) await fixture.warm(count)
      const taking = fixture.take(replica, { values: { token: 'hunter 2 !' } })
      const error = await taking.catch((failure: unknown) => failure)
      expect(error).toMatchObject({ status: 500, message: expect.stringContaining('refuses Pod') })
      for (let cause = error; cause instanceof Error; cause = cause.cause)
        expect(String(cause.stack)).not.toContain('hunter')
      await clock.advance(5_000)
      const all = [
        ...(await fixture.api.list(Event, { namespace: NAMESPACE })).items,
        ...(await fixture.api.list(ConfigMap, { namespace: NAMESPACE })).items,
      ]
      expect(JSON.stringify(all)).not.toContain('hunter')
      expect(fixture.logged.length).toBeGreaterThan(0)
      expect(fixture.logged.join('')).not.toContain('hunter')
    },
  )

  test('values of 64 KiB are accepted, and one byte more is 400', async () => {
    await setup({ default: { template: TEMPLATE + LAZY_SECRET } })
    const replica = await fixture.replica()
    const size = 64 * 1024 - '{"user":""}'.length
    expect((await fixture.take(replica, { values: { user: 'x'.repeat(size) } })).id).toBeDefined()
    await expect(fixture.take(replica, { values: { user: 'x'.repeat(size + 1) } })).rejects.toMatchObject({
      status: 400,
      message: 'invalid request body: values are larger than 64 KiB',
    })
  })

  test('keys named like properties of all objects are ordinary keys', async () => {
    const template = `apiVersion: v1\nkind: Secret\nmetadata: {name: "{{ .Release.Name }}-x"}\nstringData: {a: {{ toJson .Values.claim | quote }}}`
    await setup({ default: { template } })
    const replica = await fixture.replica()
    const values = JSON.parse(
      '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}',
    ) as never
    const { id } = await fixture.take(replica, { values })
    const { data } = await fixture.api.get(Secret, at(`claim-${id}-x`))
    expect(JSON.parse(Buffer.from(data?.['a'] ?? '', 'base64').toString())).toEqual(values)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('a warm claim returns what its members were rendered with, and lazy objects what the values say', async () => {
    const template = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-a
  annotations: {claim.controller/return: "password={{ $password := randAlphaNum 12 }}{{ $password }}"}
data: {password: "{{ $password }}"}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-b
  annotations: {claim.controller/lazy.provisionning: "true", claim.controller/return: "user={{ .Values.claim.user }}"}
`
    await setup({ default: { count: 1, template } })
    const replica = await fixture.replica()
    await fixture.warm(1)
    const { data, id, isPreProvisioned } = await fixture.take(replica, { values: { user: 'ada' } })
    expect(isPreProvisioned).toBe(true)
    const stored = await fixture.api.get(ConfigMap, at(`claim-${id}-a`))
    expect(data).toEqual({ user: 'ada', password: stored.data?.['password'] })
  })
})
