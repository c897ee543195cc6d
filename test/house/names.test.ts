import { expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { packageSources, root, type Source } from './sources.ts'

/** The kinds of Kubernetes: no other type may have the name of one. */
const KINDS = 'packages/kube/src/generated/kinds.ts'

function exportedTypes({ path: file, text }: Source): readonly { readonly name: string; readonly file: string }[] {
  const matches = text.matchAll(/^export (?:declare |abstract )*(?:interface|type|class|enum) (\w+)/gm)
  return [...matches].map(([, name = '']) => ({ name, file }))
}

test('every exported type has a name of its own', () => {
  const kinds = { path: KINDS, text: readFileSync(path.join(root, KINDS), 'utf8') }
  const types = [kinds, ...packageSources().filter(({ path: file }) => !file.endsWith('.test.ts'))].flatMap(
    exportedTypes,
  )
  const files = (name: string): readonly string[] => [
    ...new Set(types.filter((type) => type.name === name).map((type) => type.file)),
  ]
  const shared = [...new Set(types.map(({ name }) => name))].filter((name) => files(name).length > 1)
  expect(shared.map((name) => `${name}: ${files(name).join(', ')}`)).toEqual([])
})
