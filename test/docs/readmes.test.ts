import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../house/sources.ts'

interface Example {
  readonly name: string
  readonly code: string
}

/** The TypeScript examples of the READMEs of all packages. The README of gotemplate has a test beside its code. */
const examples: readonly Example[] = readdirSync(path.join(root, 'packages'))
  .filter((name) => name !== 'gotemplate')
  .flatMap((name) => {
    const readme = readFileSync(path.join(root, 'packages', name, 'README.md'), 'utf8')
    return Array.from(readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm), ([, code = '']) => ({ name, code }))
  })

/** The comments after a line that prints. */
function expectedOutput(code: string): readonly string[] {
  const lines = code.split('\n').map((line) => line.trim())
  const isOutput = (index: number): boolean => {
    const before = lines[index - 1] ?? ''
    return (lines[index] ?? '').startsWith('// ') && (before.startsWith('console.log(') || isOutput(index - 1))
  }
  return lines.filter((_, index) => isOutput(index)).map((line) => line.slice('// '.length))
}

/** Runs an example as the body of a function, because a module cannot be made of a text here. */
async function run(code: string): Promise<readonly string[]> {
  const printed: string[] = []
  const log = (text: unknown): void => void printed.push(...String(text).trimEnd().split('\n'))
  const body = stripTypeScriptTypes(code).replaceAll(
    /^import \{([^}]*)\} from ('[^']+')/gm,
    (_, names: string, module: string) => {
      const values = names.split(',').map((each) => each.trim())
      return `const { ${values.filter((each) => each !== '').join(', ')} } = await load(${module})`
    },
  )
  const AsyncFunction = (async () => undefined).constructor as new (
    ...args: readonly string[]
  ) => (load: (name: string) => Promise<unknown>, console: unknown) => Promise<void>
  await new AsyncFunction('load', 'console', body)((name) => import(name), { log })
  return printed
}

describe('the READMEs of the packages', () => {
  test('every library has an example', () => {
    const libraries = readdirSync(path.join(root, 'packages')).filter(
      (name) => !['gotemplate', 'tenure'].includes(name),
    )
    expect([...new Set(examples.map(({ name }) => name))]).toEqual(libraries)
  })

  test.each(examples)('the example of $name prints what its comments say', { timeout: 120_000 }, async ({ code }) => {
    expect(expectedOutput(code)).not.toEqual([])
    expect(await run(code)).toEqual(expectedOutput(code))
  })
})
