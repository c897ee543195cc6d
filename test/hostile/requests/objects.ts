import { type HostileRequest, MAPS, CORE, WIDGETS, many, keys, json, unique, object, post, filled } from './request.ts'

/** Objects with very many keys, of great depth and with long texts. */
export function objectRequests(): HostileRequest[] {
  const longKey = 'k'.repeat(500_000)
  return [
    post('duplicate keys under a long key', MAPS, filled(`{"${longKey}":{`, '"a":1,', '"a":1}}')),
    post(
      'unknown fields under a long key',
      `${MAPS}?fieldValidation=Strict`,
      filled(
        `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","annotations":{"${longKey}":"a"}},"x":{`,
        '"a":{},',
        '"b":1}}',
      ),
    ),
    post(
      'many unknown fields',
      `${CORE}/pods?fieldValidation=Warn`,
      object('Pod', unique(), { spec: { containers: many(20_000, () => ({ name: 'c', unknown: 1, other: 2 })) } }),
    ),
    post('many keys', MAPS, object('ConfigMap', unique(), { data: keys(80_000) })),
    post(
      'many invalid keys',
      MAPS,
      object('ConfigMap', unique(), { data: Object.fromEntries(many(50_000, (i) => [`/${i}`, ''])) }),
    ),
    post(
      'many invalid annotations',
      MAPS,
      json({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: unique(), annotations: keys(100_000, 'a') } }),
    ),
    post(
      'many invalid labels',
      MAPS,
      json({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: unique(), labels: keys(100_000, '/') } }),
    ),
    post(
      'many owners',
      MAPS,
      json({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          name: unique(),
          ownerReferences: many(10_000, (i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` })),
        },
      }),
    ),
    post(
      'many finalizers',
      MAPS,
      json({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: unique(), finalizers: many(100_000, (i) => `e.dev/${i}`) },
      }),
    ),
    post(
      'many managed fields',
      MAPS,
      json({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          name: unique(),
          managedFields: many(20_000, (i) => ({
            manager: `m${i}`,
            operation: 'Update',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': {} },
          })),
        },
      }),
    ),
    post('deep objects', MAPS, `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`),
    post(
      'deep lists',
      WIDGETS,
      `{"kind":"Widgets","apiVersion":"hostile.example.dev/v1","metadata":{"name":"w"},"any":{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}}`,
    ),
    post(
      'a prototype',
      MAPS,
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"proto"},"__proto__":{"polluted":"1"},"data":{"__proto__":"x","constructor":"y"}}',
    ),
    post('a long string', MAPS, filled('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"', 'a', '"}}')),
    post(
      'escaped text',
      MAPS,
      filled(
        '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"e"},"data":{"a":"',
        String.raw`\u0000\n`,
        '"}}',
      ),
    ),
    post('an unfinished document', MAPS, filled('{"a":[', '{"a":', '')),
    post('long numbers', MAPS, filled('{"a":', '9', '}')),
  ]
}
