import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '../..')

export interface Source {
  /** Relative to the root of the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

/** Returns every TypeScript source of the packages, including tests, without generated code. */
export function packageSources(): readonly Source[] {
  return readdirSync(path.join(root, 'packages'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('node_modules') && !file.includes(`${path.sep}generated${path.sep}`))
    .map((file) => ({
      path: path.relative(root, file).split(path.sep).join('/'),
      text: readFileSync(file, 'utf8'),
    }))
}

/** Returns the module specifiers that a source imports or re-exports, including dynamic imports. */
export function importsOf(source: Source): readonly string[] {
  const code = source.text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  const matches = code.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)['"]([^'"]+)['"]/gm)
  return [...matches].map((match) => match[1]).filter((specifier) => specifier !== undefined)
}
