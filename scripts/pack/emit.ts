import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root, runTool } from '../run.ts'
import { entryPoints, type SourcePackage } from './packages.ts'

/** The library of the oldest supported Node: the use of anything newer is a type error. */
const LIB = ['es2024', 'es2025.collection', 'es2025.iterator', 'esnext.array', 'esnext.disposable']

/**
 * Compiles the packages' entry points and all they import to JavaScript and declarations in `folder`, with the layout of `packages`. Syntax
 * that is newer than the target is lowered.
 */
export async function emit(packages: readonly SourcePackage[], folder: string): Promise<void> {
  const config = {
    extends: path.join(root, 'tsconfig.json'),
    compilerOptions: {
      target: 'es2024',
      lib: LIB,
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: path.join(root, 'packages'),
      outDir: folder,
      typeRoots: [path.join(root, 'node_modules/@types')],
      // Without it the packages import each other through node_modules. The compiler loads files in parallel, and skips
      // the output of those that it happens to find there first.
      paths: Object.fromEntries(packages.flatMap(exportedPaths)),
    },
    files: packages.flatMap(entryPoints),
    include: [],
  }
  const project = path.join(folder, 'tsconfig.json')
  writeFileSync(project, JSON.stringify(config))
  const code = await runTool('typescript', ['-p', project])
  if (code !== 0) throw new Error(`The packages do not compile: tsc ended with ${code}`)
  rewriteDeclarations(folder)
}

function exportedPaths({ directory, manifest }: SourcePackage): readonly (readonly [string, readonly string[]])[] {
  const { exports, name } = manifest
  return Object.entries(exports).map(([subpath, file]) => [
    path.posix.join(name, subpath),
    [path.join(directory, file)],
  ])
}

/** The compiler rewrites `./a.ts` to `./a.js` in JavaScript only. */
function rewriteDeclarations(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue
    const file = path.join(folder, name)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replaceAll(/\b(from |import |import\()(["'])(\.\.?\/[^"'\n]+)\.ts\2/g, '$1$2$3.js$2'))
  }
}
