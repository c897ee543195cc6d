import { constants } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { asError, TenureError } from '@tenure/kube'

/**
 * Throws unless the directory can hold data: it or its closest parent that exists is a directory, and this user may write
 * there. Creates nothing.
 */
export async function checkDataDirectory(directory: string): Promise<void> {
  const wanted = path.resolve(directory)
  const existing = await closestExisting(wanted)
  const isWanted = existing === wanted
  const found = await stat(existing).catch((error: unknown) => {
    throw unusable(wanted, `${existing} cannot be read (${reasonOf(error)})`, error)
  })
  if (!found.isDirectory())
    throw unusable(wanted, isWanted ? 'it is not a directory' : `${existing} is not a directory`)
  const needed = constants.W_OK | constants.X_OK | (isWanted ? constants.R_OK : 0)
  await access(existing, needed).catch((error: unknown) => {
    throw unusable(wanted, `this user may not write to ${existing} (${reasonOf(error)})`, error)
  })
}

/** Creates the directory and its missing parents, for this user only. */
export async function createDataDirectory(directory: string): Promise<string> {
  await checkDataDirectory(directory)
  const wanted = path.resolve(directory)
  const existing = await closestExisting(wanted)
  const missing = path.relative(existing, wanted).split(path.sep).filter(Boolean)
  let at = existing
  // One by one: Node's recursive mkdir never ends on a file system that refuses directories.
  for (const name of missing) {
    at = path.join(at, name)
    await mkdir(at, { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw unusable(wanted, `${at} cannot be created (${reasonOf(error)})`, error)
    })
  }
  return wanted
}

async function closestExisting(wanted: string): Promise<string> {
  for (let at = wanted; ; at = path.dirname(at)) {
    try {
      await stat(at)
      return at
    } catch (error) {
      const isMissing = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
      if (!isMissing || at === path.dirname(at)) return at
    }
  }
}

function unusable(directory: string, problem: string, cause?: unknown): TenureError {
  return new TenureError(
    'TENURE_DATA_DIRECTORY',
    `The data directory ${directory} cannot be used: ${problem}; choose another with TENURE_DATA.`,
    { cause },
  )
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left',
  ENOENT: 'its file system has no place for it',
}

function reasonOf(error: unknown): string {
  return REASONS[String(codeOf(error))] ?? asError(error).message
}
