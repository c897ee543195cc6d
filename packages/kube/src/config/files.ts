import type { Stats } from 'node:fs'

/** The files that configuration reads, injected so that a test can do without a disk. */
export interface Files {
  /** The whole file as UTF-8. Rejects with Node's error (`ENOENT`…). */
  read(path: string): Promise<string>
  /** Changes whenever the file does. Follows symbolic links, as mounted secrets need. */
  stamp(path: string): Promise<string>
}

/**
 * The machine's own file system. Importing `node:fs`, or `node:fs/promises`, loads readline, watchers and more, 10 ms at
 * every start; asking for the module itself does not.
 */
export const systemFiles: Files = {
  read: (path) =>
    new Promise((resolve, reject) => {
      process
        .getBuiltinModule('node:fs')
        .readFile(path, 'utf8', (error, text) => (error ? reject(error) : resolve(text)))
    }),
  async stamp(path) {
    const { mtimeMs, size, ino } = await new Promise<Stats>((resolve, reject) => {
      process.getBuiltinModule('node:fs').stat(path, (error, stats) => (error ? reject(error) : resolve(stats)))
    })
    return `${mtimeMs}/${size}/${ino}`
  },
}

export function isMissing(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** `ENOENT` and its kin, if the error has one. */
export function systemCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
