import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...markdownBelow('docs')]

function markdownBelow(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join(folder, file))
}

/** Returns the code blocks that show a file: a comment with the path precedes them. */
function shownFiles(page: string): readonly { readonly file: string; readonly code: string }[] {
  const text = readFileSync(path.join(root, page), 'utf8')
  return [...text.matchAll(/<!-- ([\w./-]+) -->\n+```\w+\n([\s\S]*?)```/g)].map((match) => ({
    file: match[1] ?? '',
    code: match[2] ?? '',
  }))
}

test('pages show example files exactly as the tests run them', () => {
  const shown = pages.flatMap(shownFiles)
  expect(shown.length).toBeGreaterThan(0)
  for (const { file, code } of shown) expect(code).toBe(readFileSync(path.join(root, file), 'utf8'))
})

test('every link leads to an existing page', () => {
  const dead = pages.flatMap((page) => {
    const text = readFileSync(path.join(root, page), 'utf8')
    return [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map((match) => path.join(path.dirname(page), match[1] ?? ''))
      .filter((target) => !exists(target))
      .map((target) => `${page} → ${target}`)
  })
  expect(dead).toEqual([])
})

function exists(target: string): boolean {
  try {
    readFileSync(path.join(root, target))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EISDIR'
  }
}
