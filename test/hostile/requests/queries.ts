import { type HostileRequest, MAPS, JSON_TYPE, many, filled } from './request.ts'

/** Selectors, headers and options of deletions. */
export function queryRequests(): HostileRequest[] {
  return [
    {
      name: 'delete options with many conditions',
      method: 'DELETE',
      path: `${MAPS}/none`,
      type: JSON_TYPE,
      body: filled('{"preconditions":{', '"uid":"a",', '"uid":"b"}}'),
    },
    {
      name: 'a list with many label terms',
      method: 'GET',
      path: `${MAPS}?labelSelector=${many(1_500, (i) => `k${i}!%3Da`).join(',')}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'a list with a long set of values',
      method: 'GET',
      path: `${MAPS}?labelSelector=${encodeURIComponent(`a in (${many(3_000, (i) => `v${i}`).join(',')})`)}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'a list with many field terms',
      method: 'GET',
      path: `${MAPS}?fieldSelector=${many(600, () => 'metadata.name%21%3Da').join(',')}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'a list with a forged continue token',
      method: 'GET',
      path: `${MAPS}?limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1e300,"start":"a"}').toString('base64url')}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'a list with a long Accept header',
      method: 'GET',
      path: MAPS,
      type: JSON_TYPE,
      body: '',
      headers: { accept: many(1_500, (i) => `application/json;as=T${i};q=0.1`).join(',') },
    },
    {
      name: 'many impersonated groups',
      method: 'GET',
      path: MAPS,
      type: JSON_TYPE,
      body: '',
      headers: { 'impersonate-user': 'u', 'impersonate-group': many(5_000, (i) => `g${i}`).join(',') },
    },
  ]
}
