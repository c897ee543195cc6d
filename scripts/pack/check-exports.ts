import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import type { StagedPackage } from './stage.ts'

interface PackedManifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Returns what keeps a package from being imported: exports, commands and imports that lead nowhere. */
export function checkExports({ directory }: StagedPackage): readonly string[] {
  const manifest = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as PackedManifest
  const commands = Object.entries(manifest.bin ?? {}).map(([name, target]) => problemOf(`command ${name}`, target))
  const exported = Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    if (!/^\.(\/[\w.-]+)*$/.test(subpath)) return [`${subpath} is not a path below the package`]
    if (typeof target === 'string') return [problemOf(subpath, target)]
    // The first condition that matches wins, and every consumer matches `default`.
    const conditions = Object.keys(target).join(', ')
    if (conditions !== 'types, default') return [`${subpath} has the conditions ${conditions}, not types, default`]
    const types = target['types'] ?? ''
    const code = target['default'] ?? ''
    const isPair = types.replace(/\.d\.ts$/, '') === code.replace(/\.js$/, '')
    return [
      problemOf(subpath, types),
      problemOf(subpath, code),
      isPair ? undefined : `${subpath}: ${types} does not describe ${code}`,
    ]
  })
  const problems = [...commands, ...exported, ...importProblems(directory, manifest)]
  return problems.filter((problem) => problem !== undefined).map((problem) => `${manifest.name}: ${problem}`)

  function problemOf(what: string, target: string): string | undefined {
    const relative = path.relative(directory, path.resolve(directory, target))
    if (relative.startsWith('..') || path.isAbsolute(relative)) return `${what}: ${target} is outside of the package`
    return existsSync(path.join(directory, target)) ? undefined : `${what}: ${target} does not exist`
  }
}

/** Every import must name Node's own module, a declared dependency, or a file of the package. */
function importProblems(directory: string, manifest: PackedManifest): readonly string[] {
  const known = { ...manifest.dependencies, ...manifest.optionalDependencies }
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return files
    .filter((name) => /^dist\/.*\.(js|d\.ts)$/.test(name))
    .flatMap((name) =>
      importsOf(name, readFileSync(path.join(directory, name), 'utf8')).flatMap((specifier) => {
        if (!specifier.startsWith('.')) {
          const dependency = /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
          return isBuiltin(specifier) || dependency in known || dependency === manifest.name
            ? []
            : [`${name} imports ${specifier}, which is not a dependency`]
        }
        const target = path.join(path.dirname(name), specifier)
        const found = name.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target
        return files.includes(found) ? [] : [`${name} imports ${specifier}, which does not exist`]
      }),
    )
}

/** Module specifiers of static and dynamic imports. */
function importsOf(name: string, text: string): readonly string[] {
  const { body } = parseAst(text, { lang: name.endsWith('.d.ts') ? 'dts' : 'js' })
  const fixed = body.flatMap((node) => ('source' in node && node.source ? [node.source.value] : []))
  const code = text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  return [...fixed, ...Array.from(code.matchAll(/\bimport\(["']([^"'\n]+)["']\)/g), ([, specifier = '']) => specifier)]
}
