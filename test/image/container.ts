import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Image } from './build.ts'

/** Whether this machine lets us mount. Without, the tests are left out, or fail if TENURE_REQUIRE_IMAGE=1. */
export const canMount: boolean =
  process.platform === 'linux' && spawnSync('unshare', ['--mount', '--propagation', 'private', 'true']).status === 0
if (!canMount) {
  const problem = 'unshare --mount is not permitted'
  if (process.env['TENURE_REQUIRE_IMAGE'] === '1') throw new Error(problem)
  process.stderr.write(`${problem}: the tests that run the image are left out\n`)
}

/** Mounts as a container engine does: devices, /proc, the volumes, and the image itself, which cannot be written to. */
const MOUNTS = `
root=$1 user=$2
shift 2
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" --groups= "$root" "$@"
`

export interface ContainerOptions {
  /** Folders of this machine, by their place in the container. They can be written to. */
  readonly volumes?: Readonly<Record<string, string>>
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * A process of an image: its root is that of the image and read-only, its user the image's, without further groups and
 * capabilities. It shares the network of this machine.
 */
export class Container {
  readonly #child: ChildProcess
  readonly #exited: Promise<number | NodeJS.Signals>
  output = ''

  constructor(image: Image, args: readonly string[], { volumes = {}, environment = {} }: ContainerOptions = {}) {
    for (const place of ['/dev', '/proc', ...Object.keys(volumes)]) {
      mkdirSync(path.join(image.root, place), { recursive: true })
    }
    chmodSync(path.dirname(image.root), 0o755)
    const mounts = Object.entries(volumes).flatMap(([place, folder]) => [folder, place])
    const program = [...image.entrypoint, ...(args.length > 0 ? args : image.command)]
    const parameters = [image.root, image.user, ...mounts, '--', ...program]
    this.#child = spawn(
      'unshare',
      ['--mount', '--propagation', 'private', 'sh', '-euc', MOUNTS, 'container', ...parameters],
      // unshare, sh and chroot are this machine's.
      { env: { PATH: process.env['PATH'], ...image.environment, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    }
    this.#exited = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'))
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** The exit code, or the signal that ended it. */
  exited(): Promise<number | NodeJS.Signals> {
    return this.#exited
  }

  stop(): Promise<number | NodeJS.Signals> {
    this.#child.kill('SIGTERM')
    return this.#exited
  }
}
