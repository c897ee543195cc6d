import {
  type HostileRequest,
  MAPS,
  WIDGETS,
  JSON_TYPE,
  APPLY,
  JSON_PATCH,
  MERGE,
  STRATEGIC,
  many,
  keys,
  json,
  object,
  patch,
  items,
} from './request.ts'

/** Updates and patches of stored objects. */
export function patchRequests(): HostileRequest[] {
  return [
    {
      name: 'an update of many items with rules',
      method: 'PUT',
      path: `${WIDGETS}/stored`,
      type: JSON_TYPE,
      body: object('Widgets', 'stored', { items: items(40_000, 2) }, 'hostile.example.dev/v1'),
    },
    patch(
      'an apply of many items',
      `${WIDGETS}/stored?fieldManager=a&force=true&dryRun=All`,
      APPLY,
      object('Widgets', 'stored', { items: items(20_000, 3) }, 'hostile.example.dev/v1'),
    ),
    patch(
      'a JSON patch of many additions',
      `${MAPS}/stored`,
      JSON_PATCH,
      json(many(40_000, (i) => ({ op: 'add', path: `/data/n${i}`, value: '' }))),
    ),
    patch(
      'a JSON patch of many list insertions',
      `${WIDGETS}/stored`,
      JSON_PATCH,
      json(many(40_000, (i) => ({ op: 'add', path: '/items/0', value: { name: `n${i}` } }))),
    ),
    patch(
      'a JSON patch that doubles its object',
      `${MAPS}/stored`,
      JSON_PATCH,
      json(many(60, (i) => ({ op: 'copy', from: '/data', path: `/data/c${i}` }))),
    ),
    patch(
      'a JSON patch that doubles a part',
      `${WIDGETS}/stored`,
      JSON_PATCH,
      json(many(40, (i) => ({ op: 'copy', from: '/any', path: `/any/c${i}` }))),
    ),
    patch(
      'a JSON patch of many tests',
      `${MAPS}/stored`,
      JSON_PATCH,
      json(many(30_000, () => ({ op: 'test', path: '/data', value: {} }))),
    ),
    patch(
      'a JSON patch of deep paths',
      `${MAPS}/stored`,
      JSON_PATCH,
      json(many(10, () => ({ op: 'add', path: '/a'.repeat(100_000), value: 1 }))),
    ),
    patch('a merge patch of many keys', `${MAPS}/stored?dryRun=All`, MERGE, json({ data: keys(200_000, null) })),
    patch('a deep merge patch', `${MAPS}/stored`, MERGE, `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`),
    patch(
      'a strategic merge of many items',
      '/apis/apps/v1/namespaces/hostile/deployments/stored?dryRun=All',
      STRATEGIC,
      json({
        spec: {
          template: {
            spec: { containers: [{ name: 'c', env: many(30_000, (i) => ({ name: `N${i}`, value: 'x' })) }] },
          },
        },
      }),
    ),
    patch(
      'a strategic merge of many deletions',
      '/apis/apps/v1/namespaces/hostile/deployments/stored?dryRun=All',
      STRATEGIC,
      json({
        spec: {
          template: {
            spec: { containers: [{ name: 'c', env: many(50_000, (i) => ({ name: `E${i}`, $patch: 'delete' })) }] },
          },
        },
      }),
    ),
    patch(
      'a strategic merge with a long order',
      '/apis/apps/v1/namespaces/hostile/deployments/stored?dryRun=All',
      STRATEGIC,
      json({
        spec: {
          template: {
            spec: {
              containers: [{ name: 'c', '$setElementOrder/env': many(60_000, (i) => ({ name: `E${i}` })), env: [] }],
            },
          },
        },
      }),
    ),
    patch(
      'a strategic merge of finalizers',
      `${MAPS}/stored?dryRun=All`,
      STRATEGIC,
      json({
        metadata: {
          finalizers: many(60_000, (i) => `e.dev/f${i}`),
          '$deleteFromPrimitiveList/finalizers': many(20_000, (i) => `e.dev/g${i}`),
        },
      }),
    ),
  ]
}
