import { HttpError, type HttpRequest, type RequestHead } from '@tenure/http'
import { ConfigMap, CoreEvent, Deployment, Secret } from '@tenure/kube/kinds'
import { Discovery } from '@tenure/runtime'
import { beforeAll, expect, test } from 'vitest'
import { objectRoute } from '../../../packages/dashboard/src/server/object/route.ts'
import { onEveryFloor } from '../../floors/index.ts'

interface Shown {
  readonly object: { readonly data?: unknown; readonly metadata: object }
  readonly yaml: string
  readonly owners: readonly { readonly kind: string; readonly name: string }[]
  readonly children: readonly { readonly kind: string; readonly ready?: boolean; readonly children?: unknown }[]
  readonly events: readonly { readonly reason: string }[]
  readonly why?: string
}

onEveryFloor('One object with its owners and children', (floor) => {
  let namespace: string

  beforeAll(async () => {
    namespace = await floor().namespace('object')
  })

  /** `refused`: `<verb> <resource>` that the caller may not do. */
  async function shown(query: object, refused: readonly string[] = []): Promise<Shown> {
    const { api, clock } = floor()
    const route = objectRoute({ api, discovery: new Discovery(api.requester, clock) })
    const authorize: RequestHead['authorize'] = (access) => {
      const text = typeof access === 'object' && 'resource' in access ? `${access.verb} ${access.resource}` : ''
      return refused.includes(text)
        ? Promise.reject(new HttpError('TENURE_HTTP_FORBIDDEN', 403, `may not ${text}`))
        : Promise.resolve()
    }
    const { body } = await route.handle({ query: { namespace, ...query }, authorize } as unknown as HttpRequest)
    if (body.type !== 'json') throw new Error(`The body is ${body.type}`)
    return body.value as Shown
  }

  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }

  test('a Deployment has its ReplicaSet with pods below, and its pods lead back to it', async () => {
    const labels = { app: 'web' }
    await floor().api.create(Deployment, {
      metadata: { name: 'web', namespace },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
      },
    })
    const tree = await floor().until('the pod is ready', async () => {
      const found = await shown(deployment)
      return found.why === undefined && found.children.length > 0 ? found : undefined
    })
    expect(tree.children).toMatchObject([{ kind: 'ReplicaSet', ready: true, children: [{ kind: 'Pod', ready: true }] }])
    expect(tree.owners).toEqual([])
    expect(tree.yaml).toContain('kind: Deployment')
    expect(tree.object.metadata).not.toHaveProperty('managedFields')
    const [replicaSet] = tree.children as readonly { readonly children: readonly { readonly name: string }[] }[]
    const pod = await shown({ apiVersion: 'v1', kind: 'Pod', name: replicaSet?.children[0]?.name })
    expect(pod.owners.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      expect.stringMatching(/^ReplicaSet web-/),
      'Deployment web',
    ])
  })

  test('what the caller may not see is left out, and the object itself is refused', async () => {
    const found = await shown(deployment, ['list pods', 'list events'])
    expect(found.children).toMatchObject([{ kind: 'ReplicaSet' }])
    expect(found.children[0]).not.toHaveProperty('children')
    expect(found.events).toEqual([])
    await expect(shown(deployment, ['get deployments'])).rejects.toMatchObject({ status: 403 })
  })

  test('a Secret shows its keys and hides its values, also in the YAML', async () => {
    await floor().api.create(Secret, {
      metadata: {
        name: 'keys',
        namespace,
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"stringData":{"password":"hunter2"}}' },
      },
      stringData: { password: 'hunter2' },
    })
    const found = await shown({ apiVersion: 'v1', kind: 'Secret', name: 'keys' })
    expect(found.object.data).toEqual({ password: '***' })
    expect(JSON.stringify(found)).not.toMatch(/hunter2|aHVudGVyMg/)
  })

  test('events of the object are shown, the newest first', async () => {
    const { api } = floor()
    const { metadata } = await api.create(ConfigMap, { metadata: { name: 'noted', namespace } })
    const involvedObject = { apiVersion: 'v1', kind: 'ConfigMap', name: 'noted', namespace, uid: metadata.uid }
    for (const [index, reason] of ['First', 'Second'].entries()) {
      await api.create(CoreEvent, {
        metadata: { name: `noted-${index}`, namespace },
        involvedObject,
        reason,
        type: 'Normal',
        lastTimestamp: `2026-01-01T00:00:0${index}Z`,
      })
    }
    const { events } = await shown({ apiVersion: 'v1', kind: 'ConfigMap', name: 'noted' })
    expect(events.map(({ reason }) => reason)).toEqual(['Second', 'First'])
  })

  test('an unknown kind and a missing object are 404', async () => {
    await expect(shown({ apiVersion: 'example.dev/v1', kind: 'Cup', name: 'x' })).rejects.toMatchObject({
      status: 404,
      message: 'The API server has no kind Cup in example.dev/v1',
    })
    await expect(shown({ apiVersion: 'v1', kind: 'ConfigMap', name: 'none' })).rejects.toMatchObject({ status: 404 })
  })
})
