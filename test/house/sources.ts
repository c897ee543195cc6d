import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '../..')

export interface Source {
  /** Relative to the root of the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

const SKIPPED_FOLDERS = new Set(['node_modules', 'generated', 'results', '.tenure'])

/** Returns every TypeScript source of the packages, including tests, without generated code. */
export function packageSources(): readonly Source[] {
  return filesBelow('packages', /\.tsx?$/)
}

/** Returns everything that people write and read: sources, tests, scripts, manifests and docs, without generated code. */
export function writtenFiles(): readonly Source[] {
  const folders = ['packages', 'test', 'bench', 'scripts', 'docs', 'deploy']
  const pages = readdirSync(root).filter((name) => name.endsWith('.md'))
  return [...folders.flatMap((folder) => filesBelow(folder, /\.(ts|tsx|mjs|md|ya?ml|go)$/)), ...pages.map(read)]
}

function filesBelow(folder: string, name: RegExp): readonly Source[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : filesBelow(file, name)
    return name.test(entry.name) ? [read(file)] : []
  })
}

function read(file: string): Source {
  return { path: file, text: readFileSync(path.join(root, file), 'utf8') }
}

/** Tests and their helpers, which some rules exempt. */
export const isTestSource = (file: string): boolean =>
  /\.test(ing)?\.ts$|\/testdata\/|-testdata\/|\/testing\/|\/testing\.ts$/.test(file)

/** Returns `file:line: problem` for every line that matches. */
export function linesMatching(source: Source, pattern: RegExp, problem: string): readonly string[] {
  return source.text
    .split('\n')
    .flatMap((line, index) => (pattern.test(line) ? [`${source.path}:${index + 1}: ${problem}: ${line.trim()}`] : []))
}

/** Returns the module specifiers that a source imports or re-exports, including dynamic imports. */
export function importsOf(source: Source): readonly string[] {
  const code = source.text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  const matches = code.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)['"]([^'"]+)['"]/gm)
  return [...matches].map((match) => match[1]).filter((specifier) => specifier !== undefined)
}
