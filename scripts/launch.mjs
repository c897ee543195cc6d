// Runs a TypeScript program with a Node that supports it: this one if it is new enough, otherwise the one that the
// lockfile installed for this platform. This file is plain JavaScript with few imports, because an old Node must be
// able to load it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as modules from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import path from 'node:path'

const OLDEST = [24, 12]

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const [program, ...args] = process.argv.slice(2)

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
}

function bundledNode() {
  const require = modules.createRequire(path.join(root, 'package.json'))
  const names = [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`]
  for (const name of [...names, `node-${process.platform.replace('win32', 'win')}-${process.arch}`]) {
    try {
      const folder = path.dirname(require.resolve(`${name}/package.json`))
      const binary = path.join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
      if (existsSync(binary)) return binary
    } catch {
      // Not installed for this platform; try the next name.
    }
  }
  return undefined
}

if (!program) {
  process.stderr.write('usage: node scripts/launch.mjs <program.ts> [arguments]\n')
  process.exit(2)
}

// npm stops its shell, but the shell does not stop its children: without this watch the program would keep running,
// with its port and its data directory.
if (process.env['npm_lifecycle_event'] && process.platform !== 'win32') {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  watch.unref()
}

if (isNewEnough(process.versions.node)) {
  modules.enableCompileCache()
  process.argv.splice(1, 2, path.resolve(root, program))
  await import(pathToFileURL(path.resolve(root, program)).href)
} else {
  const node = bundledNode()
  if (!node) {
    process.stderr.write(
      `Tenure needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}, and the Node that npm brings for ` +
        `${process.platform}-${process.arch} is not installed. Run "npm ci" without --omit=optional, or install Node 24.\n`,
    )
    process.exit(1)
  }
  // Options for Node itself apply to the process that runs the program.
  const options = [...process.execArgv, fileURLToPath(import.meta.url), program, ...args]
  const child = spawn(node, options, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    } else process.exit(code ?? 1)
  })
}
