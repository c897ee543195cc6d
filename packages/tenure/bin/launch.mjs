// Runs a program with a Node that supports it: this one if it is new enough, otherwise the one that the lockfile
// installed for this platform. Packages with a command publish a copy. This file is plain JavaScript with few imports,
// because an old Node must be able to load it.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import * as modules from 'node:module'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import path from 'node:path'

/** The oldest Node that runs TypeScript without a warning. */
const OLDEST_FOR_SOURCES = [24, 12]
/** The oldest Node that runs published packages. */
const OLDEST_FOR_PACKAGES = [22, 19]

/** Names the file descriptor of a pipe that the launcher keeps open as long as it lives. */
const LAUNCHER_PIPE = 'TENURE_LAUNCHER_PIPE'
/** Milliseconds for a clean stop after the launcher is gone: more than the grace period of the manager. */
const MAX_STOP_MS = 40_000

function isNewEnough(oldest) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
}

function bundledNode() {
  const require = modules.createRequire(import.meta.url)
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

/** Ends this process when the launcher does. The operating system closes the pipe, even after kill -9. */
function endWithLauncher(descriptor) {
  const pipe = new Socket({ fd: descriptor, readable: true, writable: false })
  pipe.once('close', () => {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), MAX_STOP_MS).unref()
    stop()
  })
  pipe.on('error', () => undefined)
  pipe.resume()
  pipe.unref()
}

/**
 * npm ends its shell, or is killed itself, and the shell does not end its children: without this watch the program
 * would keep running, with its port and its data directory. npm shares no pipe with its children, so only process ids tell.
 */
function endWithNpm() {
  const shell = process.ppid
  const npm = processInfo(shell)?.parent
  // Without a shell in between, npm is the parent and its own parent may end.
  const isNpm = npm !== undefined && processInfo(npm)?.command.startsWith('npm')
  const watch = setInterval(() => {
    if (process.ppid === shell && !(isNpm && !isAlive(npm))) return
    clearInterval(watch)
    stop()
  }, 250)
  watch.unref()
}

/** The parent and the command line of a process; undefined if they cannot be read. */
function processInfo(id) {
  try {
    const text = existsSync(`/proc/${id}/status`)
      ? `${/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))[1]} ${readFileSync(`/proc/${id}/cmdline`, 'utf8')}`
      : execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(id)], { encoding: 'utf8' })
    const [, parent, command] = /^\s*(\d+)\s*(.*)/.exec(text)
    return { parent: Number(parent), command }
  } catch {
    return undefined
  }
}

function isAlive(id) {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    // It belongs to another user.
    return error.code === 'EPERM'
  }
}

/** As SIGTERM does, on every platform. */
function stop() {
  if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(143)
}

/**
 * Runs the program at a URL. `isNamed`: the first argument names it, as with scripts/launch.mjs, and is not one of its own.
 * A new process, where one is needed, runs the same script again.
 */
export async function launch(program, isNamed = false) {
  const launcherPipe = process.env[LAUNCHER_PIPE]
  delete process.env[LAUNCHER_PIPE]
  if (launcherPipe !== undefined) {
    endWithLauncher(Number(launcherPipe))
  } else if (process.env['npm_lifecycle_event'] && process.platform !== 'win32') {
    endWithNpm()
  }
  const oldest = program.pathname.endsWith('.ts') ? OLDEST_FOR_SOURCES : OLDEST_FOR_PACKAGES
  if (!isNewEnough(oldest)) return relaunch(oldest)
  modules.enableCompileCache()
  hideSqliteWarning()
  if (isNamed) process.argv.splice(1, 2, fileURLToPath(program))
  await import(program.href)
}

/** Node 22 calls node:sqlite experimental. What is used of it has not changed since. */
function hideSqliteWarning() {
  const printers = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite ')) return
    for (const print of printers) print.call(process, warning)
  })
}

/** Runs the script of this process, with its arguments, on the Node that npm has installed. */
function relaunch(oldest) {
  const node = bundledNode()
  if (!node) {
    process.stderr.write(
      `Tenure needs Node ${oldest.join('.')} or newer; this is ${process.versions.node}, and the Node that npm brings for ` +
        `${process.platform}-${process.arch} is not installed. Run "npm ci" without --omit=optional, or install Node 24.\n`,
    )
    process.exit(1)
  }
  // Options for Node itself apply to the process that runs the program.
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, [LAUNCHER_PIPE]: '3' },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    } else process.exit(code ?? 1)
  })
}
