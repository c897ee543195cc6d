// npm run dashboard:build: bundles the page into dist, which is committed so that `npm start` serves it without a build.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { printHelp } from '@tenure/runtime/cli'
import { rolldown } from 'rolldown'

const PAGE = path.join(import.meta.dirname, 'src/page')

/** Names of the files that a build writes. */
export const BUILT_FILES = ['app.css', 'app.js', 'index.html'] as const

export const DIST = path.join(import.meta.dirname, 'dist')

/** Writes the page into `folder`. The same sources always give the same bytes. */
export async function buildPage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const bundle = await rolldown({
    input: path.join(PAGE, 'main.tsx'),
    platform: 'browser',
    tsconfig: false,
    transform: { target: 'es2024', jsx: { runtime: 'automatic', importSource: 'preact' } },
    logLevel: 'warn',
  })
  const file = path.join(folder, 'app.js')
  await bundle.write({ file, format: 'esm', minify: true, codeSplitting: false })
  await bundle.close()
  // Paths of this machine must not get into the page.
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^\/\/#(?:region .*|endregion)\n/gm, ''))
  writeFileSync(path.join(folder, 'app.css'), minifiedCss(styles()))
  writeFileSync(path.join(folder, 'index.html'), readFileSync(path.join(PAGE, 'index.html')))
}

/** The style sheets in the order of their names. */
function styles(): string {
  const folder = path.join(PAGE, 'styles')
  const names = readdirSync(folder).filter((name) => name.endsWith('.css'))
  return names
    .toSorted()
    .map((name) => readFileSync(path.join(folder, name), 'utf8'))
    .join('')
}

/** Removes comments, indentation and line breaks: all that is worth it before compression. */
function minifiedCss(css: string): string {
  return css
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s*\n\s*/g, '')
    .replaceAll(/\s*([{};,])\s*/g, '$1')
    .replaceAll(/: /g, ':')
    .replaceAll(';}', '}')
}

if (process.argv[1] === import.meta.filename) {
  const page = { usage: 'npm run dashboard:build', summary: 'Bundle the page of the dashboard into dist.' }
  if (process.argv.includes('--help')) process.stdout.write(printHelp(page))
  else await buildPage(DIST)
}
