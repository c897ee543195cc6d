import type { KubeObject } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import { expect, test } from 'vitest'
import { KINDS } from '../../registry/testing/catalog.ts'
import { openStorage } from '../../storage/index.ts'
import { podLog } from './pod-log.ts'
import { parseRoute } from './route.ts'

const WEB = { name: 'web', image: 'nginx' }
const RUNNING = { containerStatuses: [{ name: 'web', state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }] }

/** The log of a pod with these fields. */
async function logOf(pod: object, query = ''): Promise<string | undefined> {
  const storage = await openStorage({ clock: new VirtualClock(), log: silentLogger })
  const object = { metadata: { name: 'a', namespace: 'default', uid: 'u' }, ...pod } as KubeObject
  await storage.write('pods', 'default/a', () => ({ put: object }))
  const route = parseRoute('/api/v1/namespaces/default/pods/a/log')
  try {
    return route && podLog(storage, KINDS.pod, route, query)
  } finally {
    await storage.close()
  }
}

test('the log of a simulated container says that it is simulated', async () => {
  const pod = { spec: { nodeName: 'n', containers: [WEB] }, status: RUNNING }
  expect(await logOf(pod)).toBe(
    'This container is simulated since 2026-01-01T00:00:00Z: nginx does not run, and prints nothing.\n',
  )
  expect(await logOf(pod, 'timestamps=true')).toMatch(/^2026-01-01T00:00:00Z This/)
  expect(await logOf(pod, 'tailLines=0')).toBe('')
})

test('a pod without a node has no log, and neither has a container that has not started', async () => {
  expect(await logOf({ spec: { containers: [WEB] } })).toBeUndefined()
  await expect(logOf({ spec: { nodeName: 'n', containers: [WEB] } })).rejects.toThrow(
    'container "web" in pod "a" is waiting to start: ContainerCreating',
  )
})

test('a pod with several containers needs a name, unless an annotation chooses one', async () => {
  const spec = { nodeName: 'n', containers: [WEB, { name: 'side', image: 'envoy' }] }
  await expect(logOf({ spec, status: RUNNING })).rejects.toThrow('choose one of: [web side]')
  await expect(logOf({ spec, status: RUNNING }, 'container=none')).rejects.toThrow('container none is not valid')
  expect(await logOf({ spec, status: RUNNING }, 'container=web')).toContain('nginx')
  const metadata = {
    name: 'a',
    namespace: 'default',
    annotations: { 'kubectl.kubernetes.io/default-container': 'web' },
  }
  expect(await logOf({ metadata, spec, status: RUNNING })).toContain('nginx')
})
