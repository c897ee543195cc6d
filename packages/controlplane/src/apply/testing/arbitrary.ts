import type { KubeObject } from '@tenure/kube'
import fc from 'fast-check'

const word = fc.constantFrom('a', 'b', 'c')
const number = fc.integer({ min: 0, max: 2 })
const part = fc.record(
  { name: word, kind: word, size: number, deep: fc.dictionary(fc.constantFrom('a', 'b'), word) },
  { requiredKeys: ['name'] },
)
const spec = fc.record(
  {
    tags: fc.uniqueArray(word),
    atomic: fc.array(word, { maxLength: 2 }),
    parts: fc.uniqueArray(part, { maxLength: 3, selector: ({ name, kind }) => `${name}/${kind ?? 'x'}` }),
    point: fc.record({ x: number, y: number }, { requiredKeys: [] }),
    any: fc.dictionary(word, fc.oneof(number, fc.dictionary(word, number), fc.array(number, { maxLength: 2 }))),
    labels: fc.dictionary(word, word),
    groups: fc.dictionary(word, fc.record({ n: number, m: number }, { requiredKeys: [] })),
    port: fc.oneof(number, word),
  },
  { requiredKeys: [] },
)

/** Applied configurations of the custom kind of the recordings. */
export const thing: fc.Arbitrary<KubeObject> = fc
  .record({ labels: fc.dictionary(word, word), finalizers: fc.uniqueArray(word), spec }, { requiredKeys: [] })
  .map(({ labels, finalizers, spec: stated }) => ({
    apiVersion: 'rec.tenure.dev/v1',
    kind: 'Thing',
    metadata: { name: 'o', ...(labels && { labels }), ...(finalizers && { finalizers }) },
    ...(stated && { spec: stated }),
  }))
