/**
 * npm run dev: `tenure start` from the sources, which starts again when a source of a package changes. It stops cleanly each
 * time and keeps its data. The page of the dashboard is built again when one of its sources changes.
 *
 *   npm run dev -- [arguments of tenure start]
 */
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { helpIfAsked } from './program-help.ts'
import { buildPage, DIST } from '../packages/dashboard/build.ts'

const root = path.dirname(import.meta.dirname)
const PAGE = 'packages/dashboard/src/page'
/** Milliseconds without a change after which the page is built: editors write several files at once. */
const QUIET_MS = 100

/** Folders with the files that a running process has read. */
async function watchedFolders(): Promise<readonly string[]> {
  const packages = (await readdir(path.join(root, 'packages'), { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  )
  const sources = packages.map(({ name }) => (name === 'dashboard' ? 'dashboard/src/server' : `${name}/src`))
  return [...sources, 'claims/config/template', 'dashboard/dist'].map((folder) => path.join(root, 'packages', folder))
}

function watchPage(): void {
  let timer: NodeJS.Timeout | undefined
  watch(path.join(root, PAGE), { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      // A page with an error keeps its last build.
      buildPage(DIST).catch((error: unknown) => process.stderr.write(`${String(error)}\n`))
    }, QUIET_MS)
  }).unref()
}

helpIfAsked({
  usage: 'npm run dev [-- options]',
  summary: 'Run tenure start from the sources, and start it again when a source changes.',
  arguments: [{ term: 'options', meaning: 'Those of tenure start.' }],
})
const folders = await watchedFolders()
watchPage()
const options = [
  '--watch',
  '--watch-preserve-output',
  ...folders.map((folder) => `--watch-path=${folder}`),
  // As npm start has them.
  '--max-semi-space-size=2',
  '--heap-growing-percent=40',
]
const program = [path.join(root, 'scripts/launch.mjs'), 'packages/tenure/src/main.ts', 'start']
const child = spawn(process.execPath, [...options, ...program, ...process.argv.slice(2)], { stdio: 'inherit' })
// Ctrl-C in a terminal reaches the child as well: it must end first, so that its last lines come before the prompt.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void child.kill('SIGTERM'))
child.on('exit', (code) => {
  process.exitCode = code ?? 0
  process.exit()
})
