export interface StreamRequest {
  readonly method: string
  /** Includes the server's base path. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly signal?: AbortSignal | undefined
}

// Paths and headers that can be sent without escaping.
const PATH = /^[\x21-\x7e\x80-\xff]+$/
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Throws if a path or header contains characters that would change the request. */
export function requestHead({ method, path, headers }: StreamRequest, host: string): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
  let isSound = PATH.test(path)
  for (const [name, given] of Object.entries(headers)) {
    for (const value of typeof given === 'string' ? [given] : given) {
      isSound &&= NAME.test(name) && VALUE.test(value)
      head += `${name}: ${value}\r\n`
    }
  }
  if (isSound) return `${head}\r\n`
  throw coded('UND_ERR_INVALID_ARG', 'its path or a header contains characters that cannot be sent')
}

/** An error with a code of undici, so that one table of messages covers both clients. */
export function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

export function closedError(): Error {
  return coded('UND_ERR_CLOSED', 'closed by this program')
}
