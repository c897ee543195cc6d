import { describe, expect, test } from 'vitest'
import { isTestSource, linesMatching, packageSources, type Source } from './sources.ts'

const sources = packageSources().filter(({ path: file }) => !isTestSource(file))

/** Returns the `reconcile` members of controller definitions without a comment directly above. */
function reconcilesWithoutReason({ path: file, text }: Source): readonly string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    if (!/^\s+(?:async )?reconcile(?::|,$|\(.*\{$)/.test(line)) return []
    const above = lines[index - 1]?.trim() ?? ''
    return above.startsWith('//') || above.endsWith('*/') ? [] : [`${file}:${index + 1}: ${line.trim()}`]
  })
}

describe('the operator model', () => {
  test('a reconcile function has a comment directly above that says why plan does not fit', () => {
    const definitions = sources.filter(({ text }) => /\bcontroller\(/.test(text))
    expect(definitions.flatMap(reconcilesWithoutReason)).toEqual([])
  })

  test('the only worker loop is that of the runtime', () => {
    const found = sources
      .filter(({ path: file }) => !file.startsWith('packages/runtime/'))
      .flatMap((source) => linesMatching(source, /queue\.get\(/i, 'use QueueWorker'))
    expect(found).toEqual([])
  })

  test('no package wraps an object in a Proxy', () => {
    const found = sources.flatMap((source) => linesMatching(source, /\bnew Proxy\(/, 'write the methods out'))
    expect(found).toEqual([])
  })
})
