import { expect, test } from 'vitest'
import { connectionInfo } from './connection-info.ts'

const input = { name: 'shop', namespace: 'n', engine: 'postgresql', secretName: 'shop-credentials' } as const

const pod = (name: string, podIP?: string) => ({ metadata: { name }, status: podIP === undefined ? {} : { podIP } })

test('the connection info names the Service, the pods in order and the Secret', () => {
  const statefulSet = {
    spec: { replicas: 11, selector: {}, template: {} },
    status: { replicas: 11, readyReplicas: 2 },
  }
  const pods = [pod('shop-10', '10.0.0.3'), pod('shop-2', '10.0.0.2'), pod('shop-3')]
  expect(connectionInfo({ ...input, statefulSet, pods })).toEqual({
    host: 'shop.n.svc',
    port: 5432,
    service_name: 'shop',
    replicas: 11,
    ready_replicas: 2,
    pod_ips: ['10.0.0.2', '10.0.0.3'],
    secret_name: 'shop-credentials',
  })
})

test('a database without pods has no addresses, and an unknown Secret is null', () => {
  const info = connectionInfo({
    ...input,
    statefulSet: undefined,
    pods: [],
    secretName: undefined,
    serviceName: 'other',
  })
  expect(info).toMatchObject({ host: 'other.n.svc', replicas: 0, ready_replicas: 0, pod_ips: [], secret_name: null })
})
