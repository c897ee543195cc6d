import { isNotFound, mergePatch } from '@tenure/kube'
import { ConfigMap, Event, Pod, Secret, Service } from '@tenure/kube/kinds'
import { afterEach, expect, test } from 'vitest'
import { type Floor, onEveryFloor } from '../../floors/index.ts'
import { RunningClaims, type RunClaimsOptions, TEMPLATE } from './support.ts'

const isGone = (reading: Promise<unknown>): Promise<boolean> => reading.then(() => false, isNotFound)

onEveryFloor('Claims', (floor) => {
  let operator: RunningClaims | undefined
  const here = (): Floor => floor()
  const start = async (options: RunClaimsOptions = {}): Promise<RunningClaims> => {
    operator = await RunningClaims.start(here(), options)
    return operator
  }
  const at = (name: string) => ({ name, namespace: operator?.namespace ?? '' })
  /** Waits until nothing of a claim is left. */
  const whenGone = async (id: string): Promise<void> => {
    const { api } = here()
    for (const kind of [ConfigMap, Pod, Service, Secret]) {
      const name = kind === Secret ? `claim-${id}-user` : `claim-${id}`
      await here().until(`${kind.kind} ${name} is gone`, () => isGone(api.get(kind, at(name))))
    }
  }

  afterEach(() => operator?.stop())

  test('a claim lives until its renewed end, and is gone with its resources after it', async () => {
    const { clock, api } = here()
    const claims = await start({ settings: { maxTtl: 9_000, defaultTtl: 3_000 } })
    await claims.warm()
    const { id, expiresAt } = await claims.take({ ttl: '5s' })
    const end = Date.parse(String(expiresAt))
    // Shorter than what is left: the end stays.
    expect((await claims.post(`/renew/${id}`, { ttl: '1s' })).json).toEqual({
      expiresAt,
      id,
      renewMethod: 'POST',
      renewPath: `/renew/${id}`,
      status: 'ok',
    })
    const renewed = await claims.post(`/renew/${id}`, { ttl: '1h' })
    expect(renewed.status).toBe(200)
    const last = Date.parse(String(renewed.json?.['expiresAt']))
    expect(last).toBeGreaterThan(end)
    expect(last - end).toBeLessThanOrEqual(5_000)
    await here().until('the first end is over', () => clock.now() > end + 1_000)
    expect(await api.get(ConfigMap, at(`claim-${id}`))).toBeDefined()
    await whenGone(id)
    expect(clock.now()).toBeGreaterThanOrEqual(last)
    const { items } = await api.list(Event, { namespace: claims.namespace })
    expect(items.map(({ reason, note }) => `${reason}: ${note}`)).toContain(
      'Expired: Claim expired and resources were deleted',
    )
    await claims.warm()
  })

  test('a lazy resource is made at the hand-out, with the values of the caller only in it', async () => {
    const { api } = here()
    const claims = await start()
    await claims.warm()
    const [member] = await claims.claims()
    expect(await isGone(api.get(Secret, at(`claim-${member?.id}-user`)))).toBe(true)
    const { id } = await claims.take({ values: { user: 'ada-lovelace' } })
    const secret = await api.get(Secret, at(`claim-${id}-user`))
    expect(Buffer.from(secret.data?.['user'] ?? '', 'base64').toString()).toBe('ada-lovelace')
    expect(secret.metadata.ownerReferences).toMatchObject([
      { kind: 'ConfigMap', name: `claim-${id}`, controller: true },
    ])
    const { items } = await api.list(ConfigMap, { namespace: claims.namespace })
    expect(JSON.stringify(items)).not.toContain('ada-lovelace')
    expect(await claims.post(`/release/${id}`)).toMatchObject({ status: 204 })
    await whenGone(id)
  })

  test('members follow a changed template and changed values, claimed ones do not', async () => {
    const { api } = here()
    const claims = await start()
    await claims.warm()
    const { id } = await claims.take()
    await claims.warm()
    const before = new Set((await claims.claims()).map((claim) => claim.id))
    claims.write('values.yaml', 'image: nginx:1.29\n')
    await here().until('all members are new', async () => {
      const idle = (await claims.claims()).filter(({ isIdle }) => isIdle)
      return idle.length === 2 && idle.every((claim) => !before.has(claim.id) && claim.status === 'ready')
    })
    expect((await api.get(Pod, at(`claim-${id}`))).spec?.containers[0]?.image).toBe('nginx:1.27')
    expect(await claims.take()).toMatchObject({ data: { image: 'nginx:1.29' } })
    // A broken template leaves the members alone, and says why.
    claims.write('resources.yaml', '{{ .Values.image')
    await here().until('the pool reports the template', async () => {
      const { json } = await claims.send('GET', '/claims')
      const [pool] = (json?.['pools'] ?? []) as readonly { readonly templateFailure?: string }[]
      return pool?.templateFailure?.includes('unclosed action')
    })
    claims.write('resources.yaml', TEMPLATE)
    await claims.warm()
  })

  test('values come from a ConfigMap, which owns the claims', async () => {
    const { api } = here()
    const namespace = await here().namespace('claims')
    const values = { name: 'values', namespace }
    await api.create(ConfigMap, { metadata: values, data: { mine: 'image: nginx:1.0' } })
    const claims = await start({
      settings: { namespace, valuesConfigMapName: 'values', valuesConfigMapKey: 'mine' },
    })
    await claims.warm()
    const { id } = await claims.take()
    const { metadata } = await api.get(ConfigMap, at(`claim-${id}`))
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'ConfigMap', name: 'values' }])
    await api.patch(ConfigMap, values, mergePatch({ data: { mine: 'image: nginx:2.0' } }))
    await here().until('a claim has the new values', async () => {
      const taken = await claims.take()
      return (taken['data'] as { readonly image: string }).image === 'nginx:2.0'
    })
  })

  test('claims of named pools have the settings of their pool', async () => {
    const pools = { chrome: { count: 1, maxTTL: '1m' } }
    const running = await start({ settings: { preProvisionClaimsCount: 1, pools } })
    await running.warm(2)
    const { id, preProvisioned } = await running.take({ pool: 'chrome', ttl: '5m' })
    expect(preProvisioned).toBe(true)
    const claim = (await running.claims()).find((each) => each.id === id)
    expect(claim).toMatchObject({ pool: 'chrome' })
    expect((claim?.expiresAt ?? 0) - (claim?.claimedAt ?? 0)).toBeLessThanOrEqual(61_000)
  })

  test('a caller that leaves takes nothing with it', async () => {
    const template = TEMPLATE.replace('spec:\n  automount', 'spec:\n  nodeSelector: {none: here}\n  automount')
    const claims = await start({ template, settings: { preProvisionClaimsCount: 0 } })
    const leaving = new AbortController()
    const call = claims.call('/claim', leaving.signal).catch(() => 'left')
    await here().until('the claim exists', async () => (await claims.claims()).length === 1)
    const [claim] = await claims.claims()
    leaving.abort()
    expect(await call).toBe('left')
    await whenGone(claim?.id ?? '')
    expect(await claims.claims()).toEqual([])
  })
})
