import {
  type HostileRequest,
  MAPS,
  CORE,
  WIDGETS,
  many,
  keys,
  json,
  unique,
  object,
  widget,
  post,
  filled,
  large,
  largest,
  short,
} from './request.ts'

/** A ConfigMap with this metadata. */
const withMetadata = (metadata: object): string =>
  json({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: unique(), ...metadata } })

const managedFields = (manager: string, fieldsV1: object): object => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
})

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
    ...largest('many unknown fields of items', `${CORE}/pods?fieldValidation=Warn`, (count) =>
      object('Pod', unique(), { spec: { containers: many(count, () => ({ a: 1 })) } }),
    ),
    ...largest('many unknown fields', `${CORE}/pods?fieldValidation=Warn`, (count) =>
      object('Pod', unique(), { spec: keys(count, 1) }),
    ),
    ...largest('many keys', MAPS, (count) => object('ConfigMap', unique(), { data: keys(count) })),
    ...largest('many keys that are numbers', MAPS, (count) =>
      object('ConfigMap', unique(), { data: Object.fromEntries(many(count, (i) => [i, ''])) }),
    ),
    ...large('many invalid keys', MAPS, (count) => object('ConfigMap', unique(), { data: keys(count, '', '/') })),
    ...large('many invalid annotations', MAPS, (count) => withMetadata({ annotations: keys(count, '', '/') })),
    ...largest('many invalid labels', MAPS, (count) => withMetadata({ labels: keys(count, '/') })),
    ...large('many labels', MAPS, (count) => withMetadata({ labels: keys(count) })),
    ...large('many owners', MAPS, (count) =>
      withMetadata({
        ownerReferences: many(count, (i) => ({ apiVersion: 'v1', kind: 'Pod', name: short(i), uid: short(i) })),
      }),
    ),
    ...large('many finalizers', MAPS, (count) => withMetadata({ finalizers: many(count, (i) => `e.dev/${short(i)}`) })),
    ...large('many managers', MAPS, (count) =>
      withMetadata({ managedFields: many(count, (i) => managedFields(short(i), { 'f:data': {} })) }),
    ),
    ...largest('many managed fields', MAPS, (count) =>
      withMetadata({ managedFields: [managedFields('m', keys(count, {}, 'f:'))] }),
    ),
    ...large('many managed items', MAPS, (count) =>
      withMetadata({
        managedFields: [
          managedFields('m', Object.fromEntries(many(count, (i) => [`k:{"name":"${short(i)}"}`, { '.': {} }]))),
        ],
      }),
    ),
    ...largest('many numbers', WIDGETS, (count) => widget({ any: { a: many(count, () => 0) } })),
    ...largest('many empty lists', WIDGETS, (count) => widget({ any: { a: many(count, () => []) } })),
    ...largest('many empty objects', WIDGETS, (count) => widget({ any: { a: many(count, () => ({})) } })),
    ...large('many fields of any type', WIDGETS, (count) => widget({ any: keys(count, 0) })),
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
