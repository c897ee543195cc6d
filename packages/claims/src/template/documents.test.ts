import { describe, expect, test } from 'vitest'
import { readDocuments } from './documents.ts'

const pod = (name: string): string => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`
const names = (text: string): readonly string[] => readDocuments(text, 'ns').map(({ metadata }) => metadata.name)

describe('a rendered text is split into documents', () => {
  test.each([
    ['one document', pod('a'), ['a']],
    ['documents with separators before, between and after', `---\n${pod('a')}---\n${pod('b')}---\n`, ['a', 'b']],
    [
      'separators with blanks, comments and CRLF',
      `${pod('a')}---  \r\n${pod('b')}--- # c\n${pod('c')}`,
      ['a', 'b', 'c'],
    ],
    ['empty documents and documents of comments', `# start\n---\n\n---\n# only\n---\n~\n---\n${pod('a')}`, ['a']],
    ['an end marker', `${pod('a')}...\n${pod('b')}`, ['a', 'b']],
    ['text that begins like a separator', `${pod('a')}data:\n  key: |\n    ---\n    x\n`, ['a']],
    ['JSON after YAML', `${pod('a')}---\n{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}`, ['a', 'b']],
    [
      'JSON documents in a row',
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"x":"}{\\"\\\\"}}}\n{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}',
      ['a', 'b'],
    ],
    ['YAML in flow style', "{apiVersion: v1, kind: Pod, metadata: {name: 'a}'}}", ['a}']],
    [
      'a List',
      `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Service, metadata: {name: a}}]}\n---\n${pod('b')}`,
      ['a', 'a', 'b'],
    ],
  ])('%s is read', (_case, text, expected) => {
    expect(names(text)).toEqual(expected)
  })

  test('a text of 1 MB without separators is read in linear time', () => {
    expect(names(`${pod('a')}data:\n  key: "${'-{'.repeat(500_000)}"`)).toEqual(['a'])
    expect(() => names('{'.repeat(1_000_000))).toThrow('document 1: yaml: ')
  })
})

describe('an object of a claim', () => {
  test('the namespace is the claim’s, and fields of the server, owners and the status are left out', () => {
    const [manifest] = readDocuments(
      `${pod('a')}  namespace: other\n  uid: x\n  resourceVersion: "1"\n  creationTimestamp: null\n  managedFields: []\n  ownerReferences: [{name: o}]\n  finalizers: [f]\nspec: {a: 1}\nstatus: {phase: Running}\n`,
      'ns',
    )
    expect(manifest).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace: 'ns', finalizers: ['f'] },
      spec: { a: 1 },
    })
  })

  test('keys named like properties of all objects stay ordinary keys', () => {
    const [manifest] = readDocuments(`${pod('a')}__proto__: {polluted: true}\nspec: {__proto__: 1}\n`, 'ns')
    expect(Object.hasOwn(manifest ?? {}, '__proto__')).toBe(true)
    expect(Object.getPrototypeOf(manifest)).toBe(Object.prototype)
  })

  test.each([
    ['', 'the template renders no resources'],
    ['# nothing\n---\n', 'the template renders no resources'],
    ['apiVersion: v1\nkind: List\nitems: []\n', 'the template renders no resources'],
    [`${pod('a')}---\nkind: Pod\nmetadata: {name: b}`, 'document 2 (Pod "b") has no apiVersion'],
    ['apiVersion: v1\nmetadata: {name: b}', 'document 1 ("b") has no kind'],
    ['apiVersion: v1\nkind: Pod', 'document 1 (Pod) has no metadata.name'],
    ['apiVersion: v1\nkind: Pod\nmetadata: {generateName: b-}', 'document 1 (Pod) has no metadata.name'],
    [
      'apiVersion: v1\nkind: Pod\nmetadata: {name: 12}',
      'document 1 (Pod) has a metadata.name that is not a text; quote it',
    ],
    ['apiVersion: v1\nkind: Pod\nmetadata: x', 'document 1 (Pod) has a metadata that is not an object'],
    [
      'apiVersion: v1\nkind: Pod\nmetadata: {name: ../x}',
      'document 1 (Pod "../x") has a metadata.name that Kubernetes does not allow',
    ],
    [
      `${pod('a')}  annotations: {x: true}`,
      'document 1 (Pod "a") has a value that is not a text in metadata.annotations, at x; quote it',
    ],
    [`${pod('a')}  labels: [x]`, 'document 1 (Pod "a") has metadata.labels that are not an object'],
    ['just text', 'document 1 is not an object'],
    ['- a', 'document 1 is not an object'],
    [
      'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod}]',
      'document 1, item 1 (Pod) has no metadata.name',
    ],
    [`${pod('a')}---\nkind: [`, 'document 2: yaml: line 2: did not find expected node content'],
    [`? {secret: s3cret}\n: 1`, 'document 1: yaml: invalid map key'],
    [`${pod('a')}---\n${pod('a')}`, 'the template renders Pod "a" twice'],
    [
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n---\napiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a}',
      'the template renders Deployment "a" twice',
    ],
  ])('the text %j fails with its reason', (text, message) => {
    expect(() => readDocuments(text, 'ns')).toThrow(expect.objectContaining({ code: 'TENURE_CLAIM_TEMPLATE', message }))
  })

  test('a label without a value is accepted', () => {
    expect(names(`${pod('a')}  labels: {x: null}\n  annotations:\n`)).toEqual(['a'])
  })
})
