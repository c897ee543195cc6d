import {
  type HostileRequest,
  MAPS,
  WIDGETS,
  JSON_TYPE,
  APPLY,
  JSON_PATCH,
  MERGE,
  STRATEGIC,
  SIZES,
  many,
  keys,
  json,
  object,
  patch,
  items,
  sized,
  lazy,
  largePatch,
  short,
} from './request.ts'

const STORED_MAP = `${MAPS}/stored`
const STORED_WIDGET = `${WIDGETS}/stored`
const STORED_DEPLOYMENT = '/apis/apps/v1/namespaces/hostile/deployments/stored?dryRun=All'

const widget = (rest: object): string => object('Widgets', 'stored', rest, 'hostile.example.dev/v1')
const ofContainer = (rest: object): string =>
  json({ spec: { template: { spec: { containers: [{ name: 'c', ...rest }] } } } })

/** Updates and patches of stored objects. */
export function patchRequests(): HostileRequest[] {
  return [
    ...largePatch('a change of many items with rules', STORED_WIDGET, MERGE, (count) =>
      json({ items: items(count, 2) }),
    ),
    patch('a change of many items with rules that is stored', STORED_WIDGET, MERGE, json({ items: items(17_000, 2) })),
    ...SIZES.map(({ size, limit }) =>
      lazy(
        {
          name: `an update of many keys, ${size}`,
          method: 'PUT',
          path: `${STORED_MAP}?dryRun=All`,
          type: JSON_TYPE,
          body: '',
        },
        () => sized(limit, (count) => object('ConfigMap', 'stored', { data: keys(count, 'b') })),
      ),
    ),
    {
      name: 'an update of many keys that is stored',
      method: 'PUT',
      path: STORED_MAP,
      type: JSON_TYPE,
      body: object('ConfigMap', 'stored', { data: keys(55_000, 'b') }),
    },
    patch(
      'an apply of many items that is stored',
      `${STORED_WIDGET}?fieldManager=a&force=true`,
      APPLY,
      widget({ items: items(8_000, 3) }),
    ),
    patch(
      'an apply of many keys that is stored',
      `${STORED_MAP}?fieldManager=a&force=true`,
      APPLY,
      object('ConfigMap', 'stored', { data: keys(55_000, 'a') }),
    ),
    ...largePatch('an apply of many items', `${STORED_WIDGET}?fieldManager=a&force=true&dryRun=All`, APPLY, (count) =>
      widget({ items: items(count, 3) }),
    ),
    ...largePatch('an apply with many conflicts', `${STORED_WIDGET}?fieldManager=b&dryRun=All`, APPLY, (count) =>
      widget({ items: items(count, 3) }),
    ),
    ...largePatch('an apply of many keys', `${STORED_MAP}?fieldManager=a&force=true&dryRun=All`, APPLY, (count) =>
      object('ConfigMap', 'stored', { data: keys(count, 'a') }),
    ),
    ...largePatch('an apply of many items to nothing', `${WIDGETS}/new?fieldManager=a&dryRun=All`, APPLY, (count) =>
      object('Widgets', 'new', { items: items(count, 3) }, 'hostile.example.dev/v1'),
    ),
    ...largePatch('an apply of a large set', `${WIDGETS}/new?fieldManager=a&dryRun=All`, APPLY, (count) =>
      object('Widgets', 'new', { set: many(count, short) }, 'hostile.example.dev/v1'),
    ),
    ...largePatch('an apply of fields of any type', `${WIDGETS}/new?fieldManager=a&dryRun=All`, APPLY, (count) =>
      object('Widgets', 'new', { any: keys(count, 0) }, 'hostile.example.dev/v1'),
    ),
    ...largePatch('an apply of many containers', `${STORED_DEPLOYMENT}&fieldManager=a&force=true`, APPLY, (count) =>
      json({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'stored' },
        spec: { template: { spec: { containers: many(count, (i) => ({ name: short(i), image: 'i' })) } } },
      }),
    ),
    ...largePatch('a JSON patch of many additions', STORED_MAP, JSON_PATCH, (count) =>
      json(many(count, (i) => ({ op: 'add', path: `/data/n${i}`, value: '' }))),
    ),
    ...largePatch('a JSON patch of many list insertions', STORED_WIDGET, JSON_PATCH, (count) =>
      json(many(count, (i) => ({ op: 'add', path: '/items/0', value: { name: `n${i}` } }))),
    ),
    ...largePatch('a JSON patch of many removals and additions', `${STORED_WIDGET}?dryRun=All`, JSON_PATCH, (count) =>
      json(
        many(count, (i) =>
          i % 2 === 0
            ? { op: 'remove', path: '/items/9000' }
            : { op: 'add', path: '/items/9000', value: { name: 'x' } },
        ),
      ),
    ),
    patch(
      'a JSON patch that doubles its object',
      STORED_MAP,
      JSON_PATCH,
      json(many(60, (i) => ({ op: 'copy', from: '/data', path: `/data/c${i}` }))),
    ),
    patch(
      'a JSON patch that doubles a part',
      STORED_WIDGET,
      JSON_PATCH,
      json(many(40, (i) => ({ op: 'copy', from: '/any', path: `/any/c${i}` }))),
    ),
    ...largePatch('a JSON patch of many tests', STORED_MAP, JSON_PATCH, (count) =>
      json(many(count, () => ({ op: 'test', path: '/data', value: {} }))),
    ),
    patch(
      'a JSON patch of deep paths',
      STORED_MAP,
      JSON_PATCH,
      json(many(14, () => ({ op: 'add', path: '/a'.repeat(100_000), value: 1 }))),
    ),
    ...largePatch('a merge patch of many keys', `${STORED_MAP}?dryRun=All`, MERGE, (count) =>
      json({ data: keys(count, 'a') }),
    ),
    ...largePatch('a merge patch that removes many keys', `${STORED_MAP}?dryRun=All`, MERGE, (count) =>
      json({ data: keys(count, null) }),
    ),
    patch('a deep merge patch', STORED_MAP, MERGE, `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`),
    ...largePatch('a strategic merge of many items', STORED_DEPLOYMENT, STRATEGIC, (count) =>
      ofContainer({ env: many(count, (i) => ({ name: `N${i}`, value: 'x' })) }),
    ),
    ...largePatch('a strategic merge of many deletions', STORED_DEPLOYMENT, STRATEGIC, (count) =>
      ofContainer({ env: many(count, (i) => ({ name: `E${i}`, $patch: 'delete' })) }),
    ),
    ...largePatch('a strategic merge with a long order', STORED_DEPLOYMENT, STRATEGIC, (count) =>
      ofContainer({ '$setElementOrder/env': many(count, (i) => ({ name: `E${i}` })), env: [] }),
    ),
    ...largePatch('a strategic merge of finalizers', `${STORED_MAP}?dryRun=All`, STRATEGIC, (count) =>
      json({
        metadata: {
          finalizers: many(count, (i) => `e.dev/f${i}`),
          '$deleteFromPrimitiveList/finalizers': many(Math.floor(count / 3), (i) => `e.dev/g${i}`),
        },
      }),
    ),
  ]
}
