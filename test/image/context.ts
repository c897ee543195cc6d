import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The files that a build can copy: those of the repository that .dockerignore leaves. */
export class BuildContext {
  readonly #root: string
  readonly #patterns: readonly { readonly glob: string; readonly isKept: boolean }[]

  constructor(root: string) {
    this.#root = root
    this.#patterns = readFileSync(path.join(root, '.dockerignore'), 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => ({ glob: line.replace(/^!/, ''), isKept: line.startsWith('!') }))
  }

  has(file: string): boolean {
    return existsSync(path.join(this.#root, file)) && this.keeps(path.normalize(file).replace(/\/$/, ''))
  }

  /** The last pattern decides that matches the file or a folder above it. */
  keeps(file: string): boolean {
    const parts = file.split('/')
    const places = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
    const last = this.#patterns.findLast(({ glob }) => places.some((place) => path.matchesGlob(shown(place), glob)))
    return last?.isKept ?? true
  }
}

/** For Docker `*` stands for hidden files as well. */
const shown = (file: string): string => file.replaceAll(/(^|\/)\./g, '$1_')
