import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Only the owner may read these files: they hold keys and secrets. */
export const PRIVATE_FILE = 0o600
const PRIVATE_DIRECTORY = 0o700

/** Makes a directory and its missing parents, durably: it survives a power loss. */
export function makeDirectory(directory: string): void {
  const wanted = path.resolve(directory)
  const first = mkdirSync(wanted, { recursive: true, mode: PRIVATE_DIRECTORY })
  if (first === undefined) return
  for (let made = wanted; ; made = path.dirname(made)) {
    syncDirectory(path.dirname(made))
    if (made === path.resolve(first)) return
  }
}

/** Replaces a whole file: after any crash it holds the old text or the new one. */
export function replaceFile(file: string, text: string): void {
  const draft = `${file}.new`
  const handle = openSync(draft, 'w', PRIVATE_FILE)
  try {
    writeFileSync(handle, text)
    // The text must be on disk before the name is, or a power loss could leave an empty file under the name.
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(draft, file)
  syncDirectory(path.dirname(file))
}

// A name is durable once its directory is synced. Windows cannot sync directories and does not need to.
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
