/** Unknown and duplicate fields that one response reports, as in kube-apiserver. */
export const MAX_REPORTED_FIELDS = 100

/** Maximum characters of a path in an error; the path of a field below a longer map key is cut. */
export const MAX_PATH_LENGTH = 4096

/** The path of a field or item: `spec.containers[0].name`. It stays bounded, because many fields may share a long key. */
export function childPath(path: string, child: string | number): string {
  if (path.length > MAX_PATH_LENGTH) return path
  if (typeof child === 'number') return boundedText(`${path}[${child}]`)
  const name = boundedText(child)
  return path === '' ? name : boundedText(`${path}.${name}`)
}

export function boundedText(text: string): string {
  return text.length > MAX_PATH_LENGTH ? `${text.slice(0, MAX_PATH_LENGTH)}...` : text
}

/** Collects distinct paths up to the limit. Scanning goes on after that, but builds no more paths. */
export class FieldPaths {
  readonly #paths = new Set<string>()

  get isEmpty(): boolean {
    return this.#paths.size === 0
  }

  get isFull(): boolean {
    return this.#paths.size >= MAX_REPORTED_FIELDS
  }

  add(path: string): void {
    if (!this.isFull) this.#paths.add(path)
  }

  get all(): readonly string[] {
    return [...this.#paths]
  }
}
