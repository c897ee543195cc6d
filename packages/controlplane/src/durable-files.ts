import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** For nobody but the owner: what is kept here holds keys and secrets. */
export const PRIVATE_FILE = 0o600
const PRIVATE_DIRECTORY = 0o700

/** Makes a directory and what is missing above it, so that it is still there after a power loss. */
export function makeDirectory(directory: string): void {
  const wanted = path.resolve(directory)
  const first = mkdirSync(wanted, { recursive: true, mode: PRIVATE_DIRECTORY })
  if (first === undefined) return
  for (let made = wanted; ; made = path.dirname(made)) {
    syncDirectory(path.dirname(made))
    if (made === path.resolve(first)) return
  }
}

/** Replaces a file as a whole: whatever happens, it holds the old text or the new one. */
export function replaceFile(file: string, text: string): void {
  const draft = `${file}.new`
  const handle = openSync(draft, 'w', PRIVATE_FILE)
  try {
    writeFileSync(handle, text)
    // Before it has its name: else the name may be there after a power loss, and the text not.
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(draft, file)
  syncDirectory(path.dirname(file))
}

// A name is durable when its directory is. Windows has no such thing, and needs none.
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
