import { type HostileRequest, JSON_TYPE, many, keys, json, post } from './request.ts'

const app = (spec: object): string =>
  json({ metadata: { name: 'app' }, spec: { image: 'nginx', replicas: 1, ...spec } })

/** Requests to the operators' HTTP API. */
export function operatorRequests(applications: string): HostileRequest[] {
  const deep = `{"spec":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`
  return [
    post('an Application of deep lists', applications, deep),
    post(
      'an Application with many keys',
      applications,
      json({ metadata: { name: 'app', labels: keys(200_000, '/') }, spec: keys(50_000) }),
    ),
    post('an Application with a prototype', applications, '{"metadata":{"name":"app"},"spec":{"__proto__":{"a":1}}}'),
    post('an Application with a long image', applications, app({ image: `a${'/a'.repeat(1_000_000)}:!` })),
    post(
      'an Application with many environment variables',
      applications,
      app({ env: many(60_000, (i) => ({ name: `E${i}`, value: 'x' })) }),
    ),
    post(
      'an Application with many ports',
      applications,
      app({ ports: many(60_000, (i) => ({ port: i })), port: 1e300 }),
    ),
    {
      name: 'a list with a long query',
      method: 'GET',
      path: `${applications}?${many(1_000, (i) => `labelSelector=a${i}`).join('&')}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'events with a long query',
      method: 'GET',
      path: `/events?limit=${'9'.repeat(10_000)}`,
      type: JSON_TYPE,
      body: '',
    },
  ]
}
