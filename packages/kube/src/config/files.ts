import type { Stats } from 'node:fs'

/** File access for configuration, injected for tests. */
export interface Files {
  /** The whole file as UTF-8. Rejects with Node's error (`ENOENT`…). */
  read(path: string): Promise<string>
  /** Changes with the file. Follows symbolic links, which mounted Secrets use. */
  stamp(path: string): Promise<string>
}

/** The file system. An import of `node:fs` or `node:fs/promises` costs 10 ms at startup; `getBuiltinModule` does not. */
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

/** The system code of an error, such as `ENOENT`, if it has one. */
export function systemCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
