import type { Files } from '../files.ts'

/** Files in memory. Each write changes the stamp. */
export class MemoryFiles implements Files {
  readonly #files = new Map<string, { readonly text: string; readonly stamp: number }>()
  #writes = 0
  /** Number of reads of each file. */
  readonly reads = new Map<string, number>()

  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const [path, text] of Object.entries(files)) this.write(path, text)
  }

  write(path: string, text: string): void {
    this.#files.set(path, { text, stamp: this.#writes++ })
  }

  remove(path: string): void {
    this.#files.delete(path)
  }

  read(path: string): Promise<string> {
    this.reads.set(path, (this.reads.get(path) ?? 0) + 1)
    return this.#find(path).then((file) => file.text)
  }

  stamp(path: string): Promise<string> {
    return this.#find(path).then((file) => String(file.stamp))
  }

  #find(path: string): Promise<{ readonly text: string; readonly stamp: number }> {
    const file = this.#files.get(path)
    if (file) return Promise.resolve(file)
    return Promise.reject(
      Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: 'ENOENT' }),
    )
  }
}
